"""Certificates of open assignments: derived again, and refused where anything is missing or changed."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from crosspipe import bound, check, solve, verify

LAYER = {"forward_ms": 1, "backward_input_ms": 1, "backward_weight_ms": 1, "activation_mb": 2, "static_mb": 1}
SPEC: dict[str, Any] = {
    "model": {"layers": [LAYER | {"repeat": 6}, LAYER | {"name": "head", "forward_ms": 2}]},
    "training": {"microbatches": 5},
    "sites": {"a": {"devices": 2, "memory_gb": 0.02}, "b": {"devices": 1, "memory_gb": 0.03, "time_factor": 2}},
    "links": [{"between": ["a", "b"], "one_way_latency_ms": 2}],
}


def _answer(spec: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(solve(spec, time_limit_s=20).model_dump_json())
    return document


def test_the_bound_over_all_assignments_is_derived_again() -> None:
    document = _answer(SPEC)
    verdict = verify(SPEC, document)
    assert (document["status"], verdict.outcome) == ("optimal", "verified")
    assert verdict.bound_ms == document["makespan_ms"]
    assert check(SPEC, document).ok
    told = json.loads(bound(SPEC).model_dump_json())
    assert told["bound_ms"] <= document["makespan_ms"]
    assert verify(SPEC, told).outcome == "verified"


def test_a_bound_that_another_assignment_beats_is_refused() -> None:
    """A certificate that lists only a bad cut, however sound its own part, says nothing of the better ones."""
    even = SPEC | {"placement": {"layers_per_stage": [1, 1, 5]}}
    bad = _answer(even)
    assert bad["makespan_ms"] > _answer(SPEC)["makespan_ms"]
    forged = deepcopy(bad)
    rows = [{name: row[name] for name in ("device", "end_item", "recompute")} for row in bad["assignment"]]
    forged["certificate"]["data"] |= {"digest": _answer(SPEC)["provenance"]["digest"], "assignments": [rows]}
    verdict = verify(SPEC, forged)
    assert verdict.outcome == "refused"
    assert verdict.reason is not None
    assert "not listed" in verdict.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data.pop("assignments"), "lists the assignments"),
        (lambda data: data.update(assignments=[]), "lists the assignments"),
        (lambda data: data["assignments"].append(data["assignments"][0]), "certificate speaks of"),
        (lambda data: data["assignments"][0][0].update(end_item=99), "cannot be"),
        (lambda data: data["assignments"][0][0].update(device="c/0"), "cannot be"),
        (lambda data: data["assignments"][0][1].update(device=data["assignments"][0][0]["device"]), "of its own"),
        (lambda data: data.update(bound_ns=data["bound_ns"] + 1), "bound"),
    ],
)
def test_forged_lists_are_refused(change: Any, reason: str) -> None:
    document = _answer(SPEC)
    change(document["certificate"]["data"])
    verdict = verify(SPEC, document)
    assert verdict.outcome == "refused"
    assert verdict.reason is not None
    assert reason in verdict.reason


def test_that_no_cut_fits_is_derived_again() -> None:
    tight = SPEC | {"sites": {"a": {"devices": 2, "memory_gb": 0.004}, "b": {"devices": 1, "memory_gb": 0.006}}}
    document = _answer(tight)
    assert document["status"] == "infeasible"
    assert verify(tight, document).outcome == "verified"
