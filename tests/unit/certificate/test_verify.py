"""The whole certificate: what it must say, of which placements, and what becomes of a solver's word."""

from __future__ import annotations

from typing import Any

import pytest
from tests.building import STAGE, problems
from tests.golden.compiled import compile_all
from tests.unit.bounds.specs import pipeline, split
from tests.unit.certificate.forging import certificate, certificates, forgeries, of_kind

from crosspipe.answer.certify import derivable_part, no_schedule_part
from crosspipe.bounds.best import all_bounds, lower_bound
from crosspipe.certificate.verify import verify
from crosspipe.certificate.write import certificate_of, derivable, part_of, solver_part
from crosspipe.problem.problem import Objective, Problem

MS = 10**6
SMALL = pipeline(
    [split(2, 3, 1, activation_mb=2, retained_mb=1, boundary_mb=4)] * 2,
    3,
    memory_mb=4,
    links=[{"between": ["d0", "d1"], "one_way_latency_ms": 5, "bandwidth_gbps": 8}],
)


def part(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given["parts"][0].items() if name != "traversal"}


@pytest.mark.parametrize("objective", list(Objective))
def test_every_altered_field_of_every_kind_is_refused(objective: Objective) -> None:
    kinds: set[str] = set()
    for one in certificates(SMALL, objective):
        kind = one["parts"][0]["kind"]
        if kind in kinds:
            continue
        kinds.add(kind)
        for what, forged in forgeries(one, MS):
            verdict = verify(SMALL, forged)
            assert not verdict.ok, (kind, what)
            assert verdict.reason
    assert len(kinds) == (7 if objective is Objective.MAKESPAN else 6)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("digest", "f" * 64, "another spec"),
        ("version", 7, "version 1"),
        ("objective", "longest", "objective"),
        ("bound_ns", 10**40, "whole number"),
        ("bound_ns", -1, "whole number"),
        ("bound_ns", float("nan"), "whole number"),
        ("parts", [], "1 placements"),
        ("parts", "all", "list"),
        ("parts", [{"traversal": "spiral", "kind": "device load"}], "placement"),
    ],
)
def test_the_reason_says_what_is_wrong(name: str, value: object, reason: str) -> None:
    verdict = verify(SMALL, certificates(SMALL)[0] | {name: value})
    assert (verdict.outcome, verdict.bound_ns) == ("refused", None)
    assert reason in verdict.reason


def test_a_kind_that_is_not_known_is_refused() -> None:
    verdict = verify(SMALL, certificate(SMALL, part(certificates(SMALL)[0]) | {"kind": "oracle"}))
    assert "'oracle'" in verdict.reason


def test_another_device_is_refused_by_its_name_and_by_its_numbers() -> None:
    given = part(of_kind(SMALL, "start-up"))
    other = 1 - given["resource"]
    assert "not what is named" in verify(SMALL, certificate(SMALL, given | {"resource": other})).reason
    renamed = given | {"resource": other, "where": SMALL.resource_name(other)}
    assert not verify(SMALL, certificate(SMALL, renamed)).ok


def test_a_solvers_word_is_told_apart_from_what_is_derived() -> None:
    known = part(of_kind(SMALL, "last forward"))
    word = solver_part("cp-sat", "the CP-SAT model", known["bound_ns"] + MS, known)
    verdict = verify(SMALL, certificate(SMALL, word))
    assert (verdict.ok, verdict.outcome, verdict.bound_ns) == (False, "solver alone", known["bound_ns"])
    alone = verify(SMALL, certificate(SMALL, word | {"also": None}))
    assert (alone.ok, alone.outcome, alone.bound_ns) == (False, "solver alone", None)


def test_what_stands_beside_a_solvers_word_must_hold_as_well() -> None:
    known = part(of_kind(SMALL, "last forward"))
    for also in (known | {"bound_ns": known["bound_ns"] + 1}, "yes", {}, known | {"kind": "solver"}):
        word = solver_part("cp-sat", "the CP-SAT model", known["bound_ns"] + MS, None) | {"also": also}
        assert verify(SMALL, certificate(SMALL, word)).outcome == "refused"


def test_a_solvers_word_may_not_be_below_what_is_derived() -> None:
    known = part(of_kind(SMALL, "last forward"))
    word = solver_part("cp-sat", "the CP-SAT model", known["bound_ns"] - 1, known)
    assert verify(SMALL, certificate(SMALL, word)).outcome == "refused"


PLACEMENTS = problems(4, 3, sites={"a": {"devices": 2}})


def of_placements(parts: list[dict[str, Any] | None]) -> dict[str, Any]:
    named = [(one.traversal, p) for one, p in zip(PLACEMENTS, parts, strict=True) if p is not None]
    return certificate_of(PLACEMENTS[0].digest, "makespan", named)


def test_every_placement_must_be_spoken_of() -> None:
    assert len(PLACEMENTS) > 1
    parts = [derivable_part(lower_bound(one)) for one in PLACEMENTS]
    whole = of_placements(parts)
    verdict = verify(PLACEMENTS, whole)
    assert verdict.ok
    assert verdict.bound_ns == min(lower_bound(one).value_ns for one in PLACEMENTS)
    assert "placements" in verify(PLACEMENTS, whole | {"parts": whole["parts"][:1]}).reason
    assert not verify(PLACEMENTS, whole | {"parts": whole["parts"][::-1]}).ok


def test_the_bound_is_the_least_of_all_placements() -> None:
    parts = [derivable_part(lower_bound(one)) for one in PLACEMENTS]
    whole = of_placements(parts)
    assert "least of the parts" in verify(PLACEMENTS, whole | {"bound_ns": whole["bound_ns"] + 1}).reason


def optional(memory_mb: float) -> Problem:
    option = {"activation_mb": 1, "recompute_ms": 2}
    return pipeline([split(2, 3, 1, activation_mb=4, recompute_option=option)], 3, memory_mb=memory_mb)


def by_cases(problem: Problem) -> dict[str, Any]:
    (bound,) = [bound for bound in all_bounds(problem) if "arguments" in bound.data]
    found = derivable_part(bound)
    assert found is not None
    return found


@pytest.mark.parametrize(("memory_mb", "kinds"), [(8, ["bound", "bound"]), (3, ["no room", "bound"])])
def test_recompute_choices_are_gone_through(memory_mb: float, kinds: list[str]) -> None:
    problem = optional(memory_mb)
    given = by_cases(problem)
    assert ["no room" if case["part"]["kind"] == "no room" else "bound" for case in given["cases"]] == kinds
    assert verify(problem, certificate(problem, given)).bound_ns == given["bound_ns"]


@pytest.mark.parametrize("memory_mb", [8, 3])
def test_no_case_may_be_left_out_or_altered(memory_mb: float) -> None:
    problem = optional(memory_mb)
    for what, forged in forgeries(certificate(problem, by_cases(problem)), MS):
        assert not verify(problem, forged).ok, what


def test_cases_need_choices_that_are_open() -> None:
    problem = optional(8)
    resolved = problem.recompute(frozenset({0}))
    assert "open" in verify(resolved, certificate(resolved, by_cases(problem))).reason


def test_a_microbatch_that_does_not_fit() -> None:
    problem = pipeline([split(1, 1, 1, activation_mb=3)] * 2, 2, places=[0, 0], memory_mb=5)
    given = certificate(problem, no_schedule_part(problem) or {})
    assert given["bound_ns"] is None
    verdict = verify(problem, given)
    assert (verdict.ok, verdict.bound_ns) == (True, None)
    assert "no schedule exists" in verdict.reason
    # The claims of a bound do not apply, every other alteration does.
    for name, value in part(given).items():
        forged = part(given) | {name: value + 1 if isinstance(value, int) else value + "x"}
        assert not verify(problem, certificate(problem, forged)).ok, name


def test_a_microbatch_that_fits_is_not_said_not_to() -> None:
    problem = pipeline([split(1, 1, 1, activation_mb=3)] * 2, 2, places=[0, 0], memory_mb=6)
    forged = {"kind": "no room", "where": "d0/0", "pool": 0, "microbatch": 0, "needs": 6 * MS}
    assert "can hold" in verify(problem, certificate(problem, forged)).reason


def test_a_missing_route() -> None:
    spec = {
        "model": {"stages": [STAGE, STAGE]},
        "training": {"microbatches": 1},
        "parallel": {"pipeline": 2},
        "sites": {"a": {"devices": 1}, "b": {"devices": 1}},
    }
    (problem,) = compile_all(spec)
    found = no_schedule_part(problem)
    assert found == {"kind": "no route", "where": "a/0 to b/0", "boundary": 0, "message": "activation"}
    assert verify(problem, certificate(problem, found)).ok
    assert not verify(problem, certificate(problem, found | {"where": "b/0 to a/0"})).ok
    joined = pipeline([split(1, 1, 1)] * 2, 1)
    assert not verify(joined, certificate(joined, found | {"where": "d0/0 to d1/0"})).ok


def test_bounds_without_the_data_of_their_kind_are_not_written() -> None:
    assert part_of("device load", "d0/0", 5, {"resource": 0}) is None
    assert part_of("cp-sat", "the CP-SAT model", 5, {}) is None
    assert derivable("count states", {})
    assert derivable("case split", {"tree": [0]})
    assert not derivable("case split", {})
    assert not derivable("cp-sat", {})
