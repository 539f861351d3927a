"""The memory curve agrees with the peaks that are measured on a schedule."""

from __future__ import annotations

import pytest
from tests.unit.export.pipelines import SPLIT, greedy, one_forward_one_backward, pipeline, zb_h1

from crosspipe.export.memory_curve import memory_curve
from crosspipe.schedule.measure import peaks


@pytest.mark.parametrize("build", [zb_h1, one_forward_one_backward, greedy])
def test_peak_of_the_curve_is_the_peak(build: object) -> None:
    assert callable(build)
    problem = pipeline(work=SPLIT | {"backward_extra_mb": 70})
    schedule = build(problem)
    for pool, peak in enumerate(peaks(problem, schedule)):
        curve = memory_curve(problem, schedule, pool)
        assert curve.peak == peak.amount
        assert curve.time_ns[0] == 0
        assert curve.level[-1] == problem.pools[pool].base
        assert (curve.level >= problem.pools[pool].base).all()


def test_curve_step_by_step() -> None:
    problem = pipeline(1, 1, sites={"a": {"devices": 1}}, links=[])
    curve = memory_curve(problem, greedy(problem), 0)
    assert curve.time_ns.tolist() == [0, 20_000_000, 30_000_000]
    assert curve.level.tolist() == [1_500_000_000, 900_000_000, 500_000_000]
