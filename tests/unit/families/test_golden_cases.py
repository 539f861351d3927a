"""Families and greedy on every golden case: accepted by the checker, and never below the proved optimum."""

from __future__ import annotations

import pytest
from tests.golden.cases import all_cases, expected
from tests.golden.compiled import problem_of
from tests.golden.mapping import value_ns
from tests.unit.families.judged import accepted

from crosspipe.families.registry import run_families
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import value_ns as measured_ns

CASES = {
    case["id"]: case
    for case in all_cases()
    if case["kind"] == "schedule" and case["expect"].get("reason_class") != "input"
}
SOLVABLE = [key for key, case in CASES.items() if case["expect"]["status"] == "optimal"]
INFEASIBLE = [key for key in CASES if key not in SOLVABLE]


@pytest.mark.parametrize("case_id", SOLVABLE)
def test_no_schedule_beats_the_optimum_and_the_greedy_finds_one(case_id: str) -> None:
    case, problem = CASES[case_id], problem_of(case_id)
    objective = Objective(case.get("objective", "makespan"))
    optimum = value_ns(case, expected(case))
    results = run_families(problem, objective)
    for result in results:
        if result.orders is not None:
            assert result.value_ns is not None
            schedule = accepted(problem, result.orders, objective)
            assert optimum <= measured_ns(problem, schedule, objective) <= result.value_ns
    assert results[-1].orders is not None


@pytest.mark.parametrize("case_id", INFEASIBLE)
def test_what_has_no_schedule_is_refused_with_a_reason(case_id: str) -> None:
    case, problem = CASES[case_id], problem_of(case_id)
    told = {"memory": "MB", "link": "lane"}[case["expect"]["reason_class"]]
    results = run_families(problem, Objective(case.get("objective", "makespan")))
    assert all(result.orders is None and result.reason for result in results)
    assert told in (results[-1].reason or "")
