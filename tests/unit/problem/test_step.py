"""The step of time: what all moments are multiples of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.building import STAGE, problem

from crosspipe.problem.step import step_ns

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

MS = 10**6


def _linked(**more: object) -> Problem:
    link = {"between": ["a", "b"], "one_way_latency_ms": 6, "bandwidth_gbps": 8} | more
    stage = STAGE | {"forward_ms": 4, "backward_input_ms": 8, "backward_weight_ms": 2, "boundary_mb": 6}
    return problem([stage] * 2, 2, sites={"a": {"devices": 1}, "b": {"devices": 1}}, links=[link])


def test_the_step_divides_times_and_edges_of_closed_windows() -> None:
    assert step_ns(_linked()) == 2 * MS
    assert step_ns(_linked(closed_ms=[[8, 10]])) == 2 * MS
    assert step_ns(_linked(closed_ms=[[8, 11]])) == MS
    assert step_ns(_linked(closed_ms=[[8, 10]], period_ms=12.5)) == MS // 2


def test_where_a_lane_is_slower_at_times_anything_can_happen_at_any_nanosecond() -> None:
    assert step_ns(_linked(slow_ms=[[8, 10, 4]])) == 1
