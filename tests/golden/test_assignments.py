"""Assignment cases with proved answers: the solver decides cut and order, and proves the same optimum."""

from __future__ import annotations

from typing import Any

import pytest
from tests.golden.cases import Case, all_cases
from tests.golden.mapping import case_to_spec, value_ns

from crosspipe import check, solve

CASES = [case for case in all_cases() if case["kind"] == "stage_assignment"]
MAKESPAN = [case for case in CASES if case["objective"] == "makespan" and case["expect"]["status"] == "optimal"]
INFEASIBLE = [case for case in CASES if case["expect"]["status"] == "infeasible"]
BOTTLENECK = [case for case in CASES if case["objective"].startswith("bottleneck")]
MANY_MICROBATCHES = 200
"""With so many the load of the slowest device outweighs filling and draining, whatever the order."""


def _open(case: Case) -> dict[str, Any]:
    spec = case_to_spec(case)
    spec["placement"] = {"layers_per_stage": "auto", "device_order": case["device_order"]}
    return spec


def test_the_set_is_complete() -> None:
    assert (len(MAKESPAN), len(INFEASIBLE), len(BOTTLENECK)) == (7, 2, 10)


@pytest.mark.parametrize("case", MAKESPAN, ids=lambda case: case["id"])
def test_the_optimum_over_all_assignments_is_the_proved_one(case: Case) -> None:
    answer = solve(_open(case), time_limit_s=60)
    assert answer.status == "optimal"
    assert answer.makespan_ms is not None
    assert round(answer.makespan_ms * 10**6) == value_ns(case, case["expect"]["value"])
    assert check(_open(case), answer.model_dump(mode="json")).ok


@pytest.mark.parametrize("case", INFEASIBLE, ids=lambda case: case["id"])
def test_no_assignment_fits_where_none_can(case: Case) -> None:
    answer = solve(_open(case), time_limit_s=60)
    assert answer.status == "infeasible"
    assert answer.explanation is not None
    (reason,) = answer.explanation.reasons
    facts = case["expect"]["reason_facts"]
    needs = facts.get("needs", facts.get("needs_two_layers_on_one_device"))
    assert (reason.kind, reason.needs, reason.has) == ("memory", needs * 10**6, facts["has"] * 10**6)


@pytest.mark.parametrize("case", BOTTLENECK, ids=lambda case: case["id"])
def test_with_many_microbatches_the_slowest_device_is_as_fast_as_can_be(case: Case) -> None:
    spec = _open(case)
    spec["training"]["microbatches"] = MANY_MICROBATCHES
    answer = solve(spec, time_limit_s=30, relative_gap=0.015)
    works = [layer["forward"] + layer["backward_input"] + layer["backward_weight"] for layer in case["layers"]]
    names = [device["name"] for device in case["devices"]]
    first, loads = 0, []
    for row in answer.assignment:
        assert row.end_item is not None
        factor = case["devices"][names.index(row.site)].get("time_factor", 1)
        loads.append(factor * sum(works[first : row.end_item]))
        first = row.end_item
    assert max(loads) == case["expect"]["value"]
