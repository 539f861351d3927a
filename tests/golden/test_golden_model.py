"""The model alone, without incumbent or bound, proves every golden optimum and refutes every infeasible case."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from tests.golden.cases import all_cases, case_named, expected
from tests.golden.compiled import problem_of
from tests.golden.mapping import value_ns as case_value_ns

from crosspipe.model.solve import ModelLimits, improve
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.timed import timed

LIMITS = ModelLimits(time_s=120, workers=2)


def _ids(status: str, *, choices: bool = False) -> list[str]:
    return [
        case["id"]
        for case in all_cases()
        if case["kind"] == "schedule"
        and case["expect"]["status"] == status
        and case["expect"].get("reason_class") != "input"
        and any("recompute_option" in stage for stage in case["stages"]) == choices
    ]


@pytest.mark.parametrize("case_id", _ids("optimal"))
def test_the_optimum_is_proved(case_id: str) -> None:
    case, problem = case_named(case_id), problem_of(case_id)
    objective = Objective(case["objective"])
    result = improve(problem, objective, None, 0, LIMITS)
    wanted = case_value_ns(case, expected(case))
    assert result.status == "optimal"
    assert result.bound_ns == wanted
    assert result.orders is not None
    schedule = timed(problem, result.orders, objective)
    assert fits(problem, schedule)
    assert value_ns(problem, schedule, objective) == wanted


@pytest.mark.parametrize("case_id", _ids("infeasible"))
def test_the_infeasible_is_refuted(case_id: str) -> None:
    case = case_named(case_id)
    result = improve(problem_of(case_id), Objective(case["objective"]), None, 0, LIMITS)
    assert (result.status, result.orders, result.bound_ns) == ("infeasible", None, None)


@pytest.mark.parametrize("case_id", _ids("optimal", choices=True))
def test_the_best_choice_of_recomputation_is_the_optimum(case_id: str) -> None:
    case, problem = case_named(case_id), problem_of(case_id)
    objective = Objective(case["objective"])
    open_stages = [choice.stage for choice in problem.choices]
    values: dict[frozenset[int], int] = {}
    for taken in chain.from_iterable(combinations(open_stages, count) for count in range(len(open_stages) + 1)):
        result = improve(problem.recompute(frozenset(taken)), objective, None, 0, LIMITS)
        assert result.status in ("optimal", "infeasible")
        if result.bound_ns is not None:
            values[frozenset(taken)] = result.bound_ns
    best = min(values.values())
    assert best == case_value_ns(case, expected(case))
    found = sorted(sorted(taken) for taken, value in values.items() if value == best)
    assert found == sorted(sorted(taken) for taken in case["expect"]["recomputed_stages"])
