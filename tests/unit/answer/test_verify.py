"""An answer as a whole: its bound derived again, its schedule measured again, its status held against both."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import pytest
from tests.building import STAGE, spec_data
from tests.unit.bounds.specs import pipeline, split

from crosspipe.answer.certify import counted_part, derived_ns
from crosspipe.answer.solve import solve
from crosspipe.answer.verify import verify
from crosspipe.certificate.write import solver_part
from crosspipe.problem.problem import Objective

TIGHT = spec_data(
    [STAGE | {"forward_ms": 2, "backward_input_ms": 3, "activation_mb": 2, "boundary_mb": 2}] * 2,
    4,
    sites={"a": {"devices": 1, "memory_gb": 0.004}, "b": {"devices": 1, "memory_gb": 0.004}},
    links=[{"between": ["a", "b"], "one_way_latency_ms": 5, "bandwidth_gbps": 8}],
)
PLAIN = spec_data(2, 4)
NO_ROOM = spec_data(2, 4, sites={"a": {"devices": 2, "memory_gb": 0.0001}})
LATE = spec_data(2, 4, limits={"deadline_ms": 3})


@cache
def _solved(text: str, objective: str, detail: Any) -> str:
    return solve(json.loads(text), time_limit_s=0, objective=objective, detail=detail).model_dump_json()


def answer(spec: dict[str, Any], objective: str = "makespan", detail: Any = "orders") -> dict[str, Any]:
    """The construction's answer, as read from a file."""
    document: dict[str, Any] = json.loads(_solved(json.dumps(spec), objective, detail))
    return document


@pytest.mark.parametrize("objective", ["makespan", "span"])
@pytest.mark.parametrize("spec", [TIGHT, PLAIN], ids=["tight", "plain"])
def test_an_answer_is_verified_with_its_schedule(spec: dict[str, Any], objective: str) -> None:
    document = answer(spec, objective)
    result = verify(spec, document)
    assert result.ok, result.reason
    assert (result.outcome, result.bound_ms) == ("verified", document["objective"]["lower_bound_ms"])
    assert result.derived_ms == result.bound_ms == document["certificate"]["derived_ms"]
    assert result.value_ms == document["objective"]["value_ms"]


def test_full_detail_is_verified_and_a_summary_cannot_be() -> None:
    assert verify(TIGHT, answer(TIGHT, detail="full")).ok
    result = verify(TIGHT, answer(TIGHT, detail="summary"))
    assert (result.ok, result.outcome) == (False, "refused")
    assert "without its data" in result.reason


def _set(*path: str | int) -> Any:
    def change(document: Any, value: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return change


ALTERED: list[tuple[str, Any, Any, str]] = [
    ("a higher bound", _set("objective", "lower_bound_ms"), 10**6, "another bound"),
    ("a higher bound in the certificate", _set("certificate", "bound_ms"), 10**6, "gives data for another"),
    ("not a number", _set("certificate", "bound_ms"), float("nan"), "gives data for another"),
    ("no certificate", _set("certificate"), None, "no certificate"),
    ("a certificate of text", _set("certificate"), "trust me", "no certificate"),
    ("data of text", _set("certificate", "data"), "trust me", "no certificate"),
    ("another objective", _set("objective", "name"), "span", "another objective"),
    ("another objective in the data", _set("certificate", "data", "objective"), "span", ""),
    ("a better value", _set("objective", "value_ms"), 1.0, "its schedule has"),
    ("no value", _set("objective", "value_ms"), None, "cannot be"),
    ("infinite value", _set("objective", "value_ms"), float("inf"), "its schedule has"),
    ("another status", _set("status"), "best", "is not best"),
    ("no status", _set("status"), None, "is not None"),
    ("an operation moved", _set("devices", 0, "operations", "start_ms", 0), 1.0, "breaks a rule"),
    ("no devices", _set("devices"), 5, "cannot be read"),
]


@pytest.mark.parametrize(("what", "change", "value", "reason"), ALTERED, ids=[row[0] for row in ALTERED])
def test_an_altered_answer_is_refused(what: str, change: Any, value: Any, reason: str) -> None:
    document = answer(TIGHT)
    change(document, value)
    result = verify(TIGHT, document)
    assert (result.ok, result.outcome) == (False, "refused"), what
    assert reason in result.reason


def test_feasible_may_not_be_called_optimal_nor_the_other_way_round() -> None:
    for spec in (TIGHT, PLAIN):
        document = answer(spec)
        status = {"optimal": "feasible", "feasible": "optimal"}[document["status"]]
        assert not verify(spec, document | {"status": status}).ok


@pytest.mark.parametrize("document", [None, [], "text", 5, {}, {"certificate": {}}, {"certificate": {"data": {}}}])
def test_what_is_no_answer_is_refused(document: object) -> None:
    assert verify(TIGHT, document).outcome == "refused"


def test_an_answer_to_another_spec_is_refused() -> None:
    other = copy.deepcopy(TIGHT)
    other["model"]["stages"][0]["forward_ms"] = 3
    assert "another spec" in verify(other, answer(TIGHT)).reason


def test_a_bound_by_the_solver_alone_is_told() -> None:
    document = answer(TIGHT)
    data = document["certificate"]["data"]
    part = {name: value for name, value in data["parts"][0].items() if name != "traversal"}
    derived_ms = document["certificate"]["bound_ms"]
    raised_ns = data["bound_ns"] + 10**6
    data["parts"] = [{"traversal": "unidirectional"} | solver_part("cp-sat", "the CP-SAT model", raised_ns, part)]
    data["bound_ns"] = raised_ns
    document["certificate"]["bound_ms"] = document["objective"]["lower_bound_ms"] = raised_ns / 10**6
    document["objective"]["value_ms"], document["status"] = None, "unknown"
    result = verify(TIGHT, document)
    assert (result.ok, result.outcome) == (False, "solver alone")
    assert (result.bound_ms, result.derived_ms) == (raised_ns / 10**6, derived_ms)


def test_a_solvers_bound_that_count_states_derive_is_not_its_word_alone() -> None:
    problem = pipeline([split(2, 3, 1, activation_mb=1)] * 2, 2, memory_mb=1)
    part = counted_part(problem, Objective.MAKESPAN, 22 * 10**6)
    assert part is not None
    assert part["kind"] == "count states"
    assert counted_part(problem, Objective.MAKESPAN, 22 * 10**6 + 1) is None
    assert counted_part(problem, Objective.SPAN, 22 * 10**6) is None


def test_what_is_derived_leaves_a_solvers_word_out() -> None:
    known = {"kind": "device load", "bound_ns": 5}
    word = solver_part("cp-sat", "the CP-SAT model", 9, None)
    assert derived_ns([known, word | {"also": {"kind": "start-up", "bound_ns": 4}}]) == 4
    assert derived_ns([known, word]) is None
    assert derived_ns([known, {"kind": "no room"}]) == 5
    assert derived_ns([{"kind": "no room"}]) is None


def test_no_schedule_for_want_of_room_is_derived() -> None:
    document = answer(NO_ROOM)
    assert document["status"] == "infeasible"
    result = verify(NO_ROOM, document)
    assert result.ok
    assert "no schedule exists" in result.reason
    assert not verify(PLAIN, {"status": "infeasible"}).ok


def test_no_schedule_by_a_deadline_is_not_derived() -> None:
    document = answer(LATE)
    assert document["status"] == "infeasible"
    assert verify(LATE, document).outcome == "solver alone"


def test_work_is_limited() -> None:
    result = verify(TIGHT, answer(TIGHT), most_work=10)
    assert "more work" in result.reason
