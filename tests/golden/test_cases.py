"""Every golden case is read, compiled and judged: witnesses accepted at the proved value, bad schedules refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.golden import reference_check
from tests.golden.cases import (
    Case,
    all_cases,
    bad_schedules,
    case_named,
    expected,
    with_recomputed,
    witness,
    witness_ids,
)
from tests.golden.compiled import compile_all, problem_of
from tests.golden.mapping import case_document, case_schedule, case_to_spec, unit_ns, value_ns, witness_form

from crosspipe.checker.check import check
from crosspipe.checker.document import placed_from_document
from crosspipe.errors import SpecError
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

CASES = {case["id"]: case for case in all_cases()}
BAD = bad_schedules()

REFUSED = [key for key, case in CASES.items() if case["expect"].get("reason_class") == "input"]
SCHEDULE = [key for key, case in CASES.items() if case["kind"] == "schedule" and key not in REFUSED]
ASSIGNMENT = [key for key, case in CASES.items() if case["kind"] == "stage_assignment"]


def test_the_set_is_complete() -> None:
    solvable = [key for key in SCHEDULE if CASES[key]["expect"]["status"] == "optimal"]
    assert len(CASES) == 194
    assert len(ASSIGNMENT) == 19
    assert sorted(solvable) == sorted(witness_ids())
    assert len(BAD) == 35


@pytest.mark.parametrize("case_id", SCHEDULE)
def test_a_case_compiles_to_the_same_work(case_id: str) -> None:
    case, problem = CASES[case_id], problem_of(case_id)
    assert [device.name for device in problem.devices[: len(case["devices"])]] == [
        f"{device['name']}/0" for device in case["devices"]
    ]
    assert problem.replicas == case.get("replicas", 1)
    assert _durations(problem) == {key: length * unit_ns(case) for key, length in _lengths(case).items() if length}
    assert [pool.capacity for pool in problem.pools] == [
        None if device["memory"] is None else device["memory"] * 10**6 for device in case["devices"]
    ] * problem.replicas


def _durations(problem: Problem) -> dict[tuple[object, ...], int]:
    operations = problem.operations
    names = {number: name for name, number in problem.extras}
    return {
        (
            Kind(int(operations.kind[number])).name,
            names.get(number, int(operations.stage[number])),
            int(operations.microbatch[number]),
            int(operations.replica[number]),
        ): int(operations.duration_ns[number])
        for number in problem
    }


def _lengths(case: Case) -> dict[tuple[object, ...], int]:
    lengths: dict[tuple[object, ...], int] = {}
    microbatches = case["microbatches"]
    multipliers = microbatches.get("multipliers", [1] * microbatches.get("count", 0))
    for replica in range(case.get("replicas", 1)):
        for microbatch, multiplier in enumerate(multipliers):
            for index, stage in enumerate(case["stages"]):
                again = stage.get("recompute_time") or 0
                for kind, field, more in (
                    ("F", "forward", 0),
                    ("B", "backward_input", again),
                    ("W", "backward_weight", 0),
                    ("BW", "backward", again),
                ):
                    if stage.get(field) is not None:
                        lengths[kind, index, microbatch, replica] = (stage[field] + more) * multiplier
            for hop in case["hops"]:
                boundary = min(hop["from_stage"], hop["to_stage"])
                lengths[hop["kind"].upper(), boundary, microbatch, replica] = hop["transfer"] * multiplier
    for extra in case.get("extra_ops", []):
        lengths["EXTRA", extra["name"], 0, 0] = extra["duration"]
    return lengths


@pytest.mark.parametrize("case_id", ASSIGNMENT)
def test_an_assignment_case_compiles(case_id: str) -> None:
    case = CASES[case_id]
    problems = compile_all(case_to_spec(case))
    assert problems
    for problem in problems:
        assert len(problem.stages) == len(problem.devices) == len(case["devices"])
        assert [device.name for device in problem.devices] == [f"{device['name']}/0" for device in case["devices"]]
        assert_cut_of_the_layers(case, problem)


def assert_cut_of_the_layers(case: Case, problem: Problem) -> None:
    """Every stage is the next run of layers, at the speed of its device."""
    layers = list(case["layers"])
    for stage, device in enumerate(case["devices"]):
        want = [_duration(problem, kind, stage) for kind in (Kind.F, Kind.B, Kind.W, Kind.BW)]
        forward = backward = weight = 0
        while forward < want[0]:
            layer = layers.pop(0)
            forward += value_ns(case, device["time_factor"] * layer["forward"])
            backward += value_ns(case, device["time_factor"] * layer["backward_input"])
            weight += value_ns(case, device["time_factor"] * layer["backward_weight"])
        combined = case["backward"] == "combined"
        assert want == ([forward, 0, 0, backward + weight] if combined else [forward, backward, weight, 0])
    assert layers == []


def _duration(problem: Problem, kind: Kind, stage: int) -> int:
    number = problem.number(kind, stage, 0)
    return 0 if number is None else int(problem.operations.duration_ns[number])


@pytest.mark.parametrize("case_id", REFUSED)
def test_an_empty_case_is_refused_and_says_why(case_id: str) -> None:
    with pytest.raises(SpecError) as raised:
        compile_all(case_to_spec(CASES[case_id]))
    assert any(fault.pointer.startswith("/training/microbatches") for fault in raised.value.faults)


@pytest.mark.parametrize("case_id", witness_ids())
def test_a_witness_is_accepted_at_the_proved_value(case_id: str) -> None:
    case, problem = CASES[case_id], problem_of(case_id)
    rows, recomputed = witness(case_id)
    report = check(problem, case_schedule(case, rows), recomputed)
    assert report.violations == ()
    value = report.makespan_ns if case["objective"] == "makespan" else report.span_ns
    assert value == value_ns(case, expected(case))


@pytest.mark.parametrize("case_id", witness_ids())
def test_the_checker_and_the_reference_agree_on_a_witness(case_id: str) -> None:
    case = CASES[case_id]
    rows, recomputed = witness(case_id)
    errors, makespan, span = reference_check.check(with_recomputed(case, recomputed), rows)
    report = check(problem_of(case_id), case_schedule(case, rows), recomputed)
    assert not errors
    assert makespan is not None
    assert span is not None
    assert (report.makespan_ns, report.span_ns) == (value_ns(case, makespan), value_ns(case, span))


@pytest.mark.parametrize("case_id", witness_ids())
def test_a_witness_survives_the_way_through_a_document(case_id: str) -> None:
    case, problem = CASES[case_id], problem_of(case_id)
    rows, recomputed = witness(case_id)
    placed, read = placed_from_document(problem, case_document(case, rows, recomputed))
    assert read == recomputed
    assert placed == case_schedule(case, rows)
    assert witness_form(case, placed) == rows


@pytest.mark.parametrize("name", list(BAD))
def test_a_bad_schedule_is_refused_for_its_one_breach(name: str) -> None:
    bad = BAD[name]
    case = case_named(bad["case"])
    report = check(problem_of(bad["case"]), case_schedule(case, bad["schedule"]))
    assert {violation.kind.value for violation in report.violations} == {bad["violation"]}
    assert re.fullmatch(rf"{bad['violation']}-\d+", name)
