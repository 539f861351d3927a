"""Every family and the greedy on one to nine microbatches: never stuck, and never a refusal without numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.families.instances import Message, uniform
from tests.unit.families.judged import accepted

from crosspipe.families.registry import best_of, run_families
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.families.known import FamilyResult
    from crosspipe.problem.problem import Problem

WAN = {1: Message(latency=3, transfer=1, lane="wan/out")}
APPLIES = {
    "unidirectional": {"GPipe", "1F1B", "1F1B split", "ZB-H1", "ZB-H2", "greedy"},
    "loop": {"GPipe", "interleaved 1F1B", "greedy"},
    "wave": {"GPipe", "ZB-V", "V-Half", "V-Min", "greedy"},
}


def problem_on(traversal: str, p: int, m: int, capacity: int | None) -> Problem:
    chunks = 1 if traversal == "unidirectional" else 2
    slow = WAN if p > 2 else None
    return uniform(p, m, chunks=chunks, wave=traversal == "wave", slow=slow, latency=1, capacity=capacity)


def results_by_name(problem: Problem) -> dict[str, FamilyResult]:
    results = run_families(problem, Objective.MAKESPAN)
    for result in results:
        assert (result.orders is None) == (result.reason is not None)
        if result.orders is not None:
            schedule = accepted(problem, result.orders)
            assert result.value_ns is not None
            assert int(schedule.end_ns.max()) <= result.value_ns
    return {result.name: result for result in results}


@pytest.mark.parametrize("traversal", APPLIES)
@pytest.mark.parametrize("p", [1, 4])
@pytest.mark.parametrize("m", range(1, 10))
def test_without_memory_limits(traversal: str, p: int, m: int) -> None:
    results = results_by_name(problem_on(traversal, p, m, None))
    # Two stages on one device are a loop and a wave.
    expected = APPLIES[traversal] if p > 1 or traversal == "unidirectional" else APPLIES["loop"] | APPLIES["wave"]
    assert {name for name, result in results.items() if result.orders is not None} == expected


@pytest.mark.parametrize("traversal", APPLIES)
@pytest.mark.parametrize("m", range(1, 10))
def test_with_memory_for_one_microbatch_only_the_greedy_always_fits(traversal: str, m: int) -> None:
    capacity = 2 if traversal == "unidirectional" else 4
    results = results_by_name(problem_on(traversal, 4, m, capacity))
    assert results["greedy"].orders is not None
    for name, result in results.items():
        if name in APPLIES[traversal] and result.orders is None:
            assert result.reason is not None
            assert "activations" in result.reason
            assert "has 0.00000" in result.reason
        if m > 1 and name != "greedy":
            assert result.orders is None


@pytest.mark.parametrize("m", range(1, 10))
def test_with_the_memory_of_1f1b_it_and_zb_h1_fit(m: int) -> None:
    results = results_by_name(problem_on("unidirectional", 4, m, 8))
    assert results["1F1B"].orders is not None
    assert results["ZB-H1"].orders is not None
    assert (results["ZB-H2"].orders is None) == (m > 4)
    assert (results["GPipe"].orders is None) == (m > 4)
    best = best_of(results.values())
    assert best is not None
    assert best.value_ns == min(r.value_ns for r in results.values() if r.value_ns is not None)
