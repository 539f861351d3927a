"""Golden cases from spec to answer: the proved value, judged by the checker and by the reference checker."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
from tests.golden import reference_check
from tests.golden.cases import all_cases, case_named, expected, with_recomputed
from tests.golden.mapping import case_to_spec, value_ns, witness_form
from tests.solving import assert_sound, solve_here

from crosspipe.answer.judge import placed_of
from crosspipe.answer.restore import restore
from crosspipe.answer.solve import solve

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer

CASES = {case["id"]: case for case in all_cases() if case["kind"] == "schedule"}
SOLVABLE = [key for key, case in CASES.items() if case["expect"]["status"] == "optimal"]
INFEASIBLE = [key for key, case in CASES.items() if case["expect"].get("reason_class") in ("memory", "link")]

GIVEN_CHOICE = {"recompute_choice-05"}
"""Here no bound yet meets the optimum over all recompute choices; the answer's notes say so."""


def first_of_each(count: int) -> list[str]:
    """A sample: the first cases of every kind, which every run of the tests takes."""
    kinds = defaultdict[str, list[str]](list)
    for key in SOLVABLE:
        kinds[key.rpartition("-")[0]].append(key)
    return [key for keys in kinds.values() for key in keys[:count]]


SAMPLE = first_of_each(2)


@pytest.mark.parametrize(
    "case_id", [key if key in SAMPLE else pytest.param(key, marks=pytest.mark.slow) for key in SOLVABLE]
)
def test_a_solvable_case_is_solved_to_its_proved_value(case_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_named(case_id)
    spec = case_to_spec(case)
    answer = solve_here(monkeypatch, spec, time_limit_s=60, objective=case["objective"])
    assert_sound(spec, answer)
    assert_judged_alike(case_id, answer)
    if case_id in GIVEN_CHOICE:
        assert answer.status == "feasible"
        assert any("recompute options" in note for note in answer.notes)
    else:
        assert answer.status == "optimal"


@pytest.mark.parametrize("case_id", first_of_each(1)[1::4])
def test_a_case_is_solved_by_a_process_of_its_own(case_id: str) -> None:
    case = case_named(case_id)
    spec = case_to_spec(case)
    answer = solve(spec, time_limit_s=60, objective=case["objective"])
    assert_sound(spec, answer)
    assert_judged_alike(case_id, answer)
    assert answer.status == "optimal"


@pytest.mark.parametrize("case_id", SAMPLE)
def test_the_construction_alone_claims_nothing_false(case_id: str) -> None:
    case = case_named(case_id)
    spec = case_to_spec(case)
    answer = solve(spec, time_limit_s=0, objective=case["objective"])
    assert_sound(spec, answer)
    assert_judged_alike(case_id, answer)


def assert_judged_alike(case_id: str, answer: Answer) -> None:
    """The reference checker, given the answer's JSON as witness rows, measures what the answer says."""
    case = case_named(case_id)
    problem, schedule = restore(case_to_spec(case), json.loads(answer.model_dump_json()))
    rows = witness_form(case, placed_of(problem, schedule))
    judged = with_recomputed(case, frozenset(answer.recomputed_stages))
    errors, makespan, span = reference_check.check(judged, rows)
    assert not errors
    value = makespan if case["objective"] == "makespan" else span
    assert value is not None
    assert answer.objective.value_ms is not None
    assert round(answer.objective.value_ms * 10**6) == value_ns(case, value)
    if answer.status == "optimal":
        assert value == expected(case)
    assert value >= expected(case)
    bound = answer.objective.lower_bound_ms
    assert bound is not None
    assert round(bound * 10**6) <= value_ns(case, expected(case))


@pytest.mark.parametrize("case_id", INFEASIBLE)
def test_an_infeasible_case_is_refused_with_its_reason(case_id: str) -> None:
    case = case_named(case_id)
    spec = case_to_spec(case)
    answer = solve(spec, time_limit_s=60)
    assert_sound(spec, answer)
    assert (answer.status, answer.stop_reason) == ("infeasible", "proved")
    assert answer.provenance.solver == [], "known without search"
    assert answer.explanation is not None
    facts = case["expect"]["reason_facts"]
    for word in case["expect"]["reason_mentions"]:
        assert word in answer.explanation.summary
    for number in (facts.get("needs"), facts.get("has")):
        if number is not None:
            assert re.search(rf"\b{number} MB", answer.explanation.summary)
    reasons = answer.explanation.reasons
    assert {reason.kind for reason in reasons} == {case["expect"]["reason_class"]}
    for reason in reasons:
        if reason.kind == "memory":
            assert (reason.needs, reason.has) == (facts["needs"] * 10**6, facts["has"] * 10**6)
            assert reason.unit == "bytes"
            assert reason.smallest_sufficient == reason.needs


@pytest.mark.parametrize("case_id", [key for key in INFEASIBLE if CASES[key]["expect"]["reason_class"] == "memory"])
def test_the_smallest_sufficient_memory_is_sufficient(case_id: str) -> None:
    spec = case_to_spec(case_named(case_id))
    explanation = solve(spec, time_limit_s=0).explanation
    assert explanation is not None
    for reason in explanation.reasons:
        assert reason.smallest_sufficient is not None
        for site in spec["sites"]:
            if f"{site}/0" in reason.message:
                spec["sites"][site]["memory_gb"] = reason.smallest_sufficient / 10**9
    answer = solve(spec, time_limit_s=0)
    assert answer.status in ("feasible", "optimal")
    assert_sound(spec, answer)
