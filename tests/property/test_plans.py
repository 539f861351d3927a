"""Plans of random specs of every feature: the best is never slower than another, and no proof is contradicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.property.random_specs import random_spec

from crosspipe.answer.solve import solve
from crosspipe.plans.run import plan

if TYPE_CHECKING:
    from crosspipe.plans.models import Probe

TOLD = (4, 5, 13, 23, 31, 35)
"""Specs that have a schedule on one site and on several."""

SEEDS = [*TOLD, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(100) if seed not in TOLD)]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_is_the_fastest_and_proofs_hold(seed: int) -> None:
    found = plan(random_spec(seed), time_limit_s=0, workers=1)
    known = {row.name: row for row in found.arrangements if row.value_ms is not None}
    counted = [row.value_ms for row in known.values() if row.gradients_counted and row.value_ms is not None]
    assert found.best is not None
    assert known[found.best].value_ms == min(counted)
    for row in known.values():
        assert row.spec is not None
        again = solve(row.spec, time_limit_s=0, workers=1).objective
        assert row.lower_bound_ms is not None
        assert again.value_ms is not None
        assert again.lower_bound_ms is not None
        assert row.value_ms is not None
        assert row.lower_bound_ms <= again.value_ms
        assert again.lower_bound_ms <= row.value_ms
    for flip in found.break_evens:
        assert all(holds(probe) for probe in flip.probes)
        assert (flip.direction is None) == (flip.flips is None)


def holds(probe: Probe) -> bool:
    """Whether what a probe says follows from its values and bounds."""
    if not probe.proved:
        return True
    mine, theirs = (probe.best_ms, probe.other_bound_ms), (probe.other_ms, probe.best_bound_ms)
    value, bound = mine if probe.faster == "best" else theirs
    return value is not None and (bound is None or value <= bound)
