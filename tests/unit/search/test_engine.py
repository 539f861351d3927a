"""The methods of one solving process: counted work does not look at the clock."""

from __future__ import annotations

from typing import Any

import pytest
from tests.building import problem

from crosspipe.problem.problem import Objective, Problem
from crosspipe.search import engine
from crosspipe.search.engine import Effort, run_engine
from crosspipe.search.shared import Shared

ALIKE = 24
UNLIKE = {"multipliers": [1, 1.25, 1.5, 1.75, 2], "order": "free"}

STAGES = [
    {
        "forward_ms": 9.261 + number / 7,
        "backward_input_ms": 9.043,
        "backward_weight_ms": 4.6685,
        "activation_mb": 1854,
        "retained_mb": 679,
        "boundary_mb": 28.3,
    }
    for number in range(8)
]


def wave(microbatches: Any) -> Problem:
    """Two stages on each of four devices, little memory, a thin link in the middle: not settled at once."""
    site = {"devices": 2, "memory_gb": 18, "hop_latency_ms": 0.601}
    return problem(
        STAGES,
        microbatches,
        sites={"east": site, "west": site},
        links=[{"between": ["east", "west"], "bandwidth_gbps": 30, "one_way_latency_ms": 25}],
        placement={"traversal": "wave"},
    )


def worked(microbatches: Any, time_s: float) -> tuple[int | None, int, list[tuple[str, int]]]:
    """Value, bound and news of a search with little counted work and this much time."""
    news: list[tuple[str, int]] = []
    shared = Shared(
        wave(microbatches),
        Objective.MAKESPAN,
        None,
        0,
        (time_s, 0.0),
        on_orders=lambda orders, source: news.append((source, hash(tuple(map(bytes, orders.sequences))))),
        on_bound=lambda bound_ns, source, _: news.append((source, bound_ns)),
        should_stop=lambda: False,
    )
    run_engine(shared, Effort(workers=1, seed=5, relative_gap=0.0, deterministic=True, counted_s=0.3))
    return shared.value_ns, shared.bound_ns, news


@pytest.mark.parametrize("microbatches", [ALIKE, UNLIKE])
def test_counted_work_is_the_same_whatever_time_there_is(microbatches: Any) -> None:
    one, other = worked(microbatches, 300.0), worked(microbatches, 200.0)
    assert one == other
    assert one[0] is not None
    assert one[1] < one[0], "the work ends before the search does"


@pytest.mark.parametrize("compiled", [False, True])
def test_it_is_told_where_kernels_are_missing(monkeypatch: pytest.MonkeyPatch, compiled: bool) -> None:
    monkeypatch.setattr(engine, "is_warm", lambda: compiled)
    for method in ("_lattice_or_whole_model", "_after", "_whole_model", "_decide_sample_and_move"):
        monkeypatch.setattr(engine, method, lambda *_: None)
    methods: list[str] = []
    shared = Shared(
        wave(ALIKE),
        Objective.MAKESPAN,
        None,
        0,
        (0.5, 0.0),
        on_orders=lambda *_: None,
        on_bound=lambda *_: None,
        should_stop=lambda: False,
    )
    shared.on_method = methods.append
    run_engine(shared, Effort(workers=2, seed=5, relative_gap=0.0, deterministic=False, counted_s=0.3))
    assert any("kernels are not compiled" in method for method in methods) != compiled
