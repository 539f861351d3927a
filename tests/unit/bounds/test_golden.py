"""Bounds and obstacles on the golden cases, whose answers are proved."""

from __future__ import annotations

import pytest
from tests.golden.cases import Case, all_cases, expected
from tests.golden.compiled import problem_of
from tests.golden.mapping import value_ns

from crosspipe.bounds.best import all_bounds
from crosspipe.bounds.obstacles import obstacles
from crosspipe.problem.problem import Objective

SCHEDULE = {case["id"]: case for case in all_cases() if case["kind"] == "schedule"}
OPTIMAL = [key for key, case in SCHEDULE.items() if case["expect"]["status"] == "optimal"]
INFEASIBLE = [key for key, case in SCHEDULE.items() if case["expect"].get("reason_class") in ("memory", "link")]

NOT_REACHED = {
    *("memory_cap-02", "per_stage_cap-03", "per_stage_cap-04", "b_raises_memory-02", "b_raises_memory-12"),
    *("partial_release-04", "partial_release-11", "half_duplex-13", "shared_wan-01", "shared_wan-02"),
    *("combined_vs_split-03", "variable_microbatch-05", "variable_microbatch-06", "tied_embedding-04"),
    *("zero1_gather-04", "zero1_gather-05", "recompute-01", "recompute_choice-05", "mixed-04", "span-12"),
}
"""Cases whose optimum needs a search to prove; in all others the bound equals it."""


@pytest.mark.parametrize("case_id", OPTIMAL)
def test_no_bound_exceeds_the_proved_optimum(case_id: str) -> None:
    case = SCHEDULE[case_id]
    optimum = value_ns(case, expected(case))
    found = all_bounds(problem_of(case_id), Objective(case["objective"]))
    assert [bound for bound in found if bound.value_ns > optimum] == []
    reached = max(bound.value_ns for bound in found) == optimum
    assert reached == (case_id not in NOT_REACHED)


@pytest.mark.parametrize("case_id", OPTIMAL)
def test_no_obstacle_stands_before_a_solvable_case(case_id: str) -> None:
    assert obstacles(problem_of(case_id)) == ()


@pytest.mark.parametrize("case_id", INFEASIBLE)
def test_an_infeasible_case_is_explained_with_its_facts(case_id: str) -> None:
    case = SCHEDULE[case_id]
    (found,) = obstacles(problem_of(case_id))
    assert found.reason == case["expect"]["reason_class"]
    for word in case["expect"]["reason_mentions"]:
        assert word.lower() in found.message.lower()
    stated = dict(found.facts)
    if found.reason == "memory":
        stated["devices"] = [name.removesuffix("/0") for name in found.facts["devices"]]  # type: ignore[attr-defined]
        stated |= {key: found.facts[key] // 10**6 for key in ("needs", "has")}  # type: ignore[operator]
    assert stated | case["expect"]["reason_facts"] == stated


def test_the_set_has_what_is_tested() -> None:
    assert len(OPTIMAL) == 166
    assert len(INFEASIBLE) == 7
    assert {key for key in OPTIMAL if _has(SCHEDULE[key], "closed")} != set()


def _has(case: Case, field: str) -> bool:
    return any(channel.get(field) for channel in case["channels"])
