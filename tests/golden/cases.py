"""The golden cases, their witnesses and the bad schedules, read from `tests/data/golden`."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data" / "golden"

Case = dict[str, Any]
Rows = list[list[Any]]


@cache
def _read(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text())


def all_cases() -> list[Case]:
    """Give all cases, fresh copies."""
    return copy.deepcopy(_read("all"))


def case_named(case_id: str) -> Case:
    """Give one case, a fresh copy."""
    return copy.deepcopy(next(case for case in _read("all") if case["id"] == case_id))


def witness_ids() -> list[str]:
    """Name the cases that have a witness."""
    return list(_read("witness"))


def witness(case_id: str) -> tuple[Rows, frozenset[int]]:
    """Give the rows of a witness and the stages it recomputes."""
    found = copy.deepcopy(_read("witness")[case_id])
    if isinstance(found, dict):
        return found["schedule"], frozenset(found["recomputed"])
    return found, frozenset()


def bad_schedules() -> dict[str, Case]:
    """Give the schedules a checker must refuse: case, violation, schedule."""
    return copy.deepcopy(_read("bad_schedules"))


def with_recomputed(case: Case, recomputed: frozenset[int]) -> Case:
    """Give the case in which these stages take their recompute option, as `reference_check` wants it."""
    case = copy.deepcopy(case)
    for stage in recomputed:
        case["stages"][stage].update(case["stages"][stage]["recompute_option"])
    return case


def expected(case: Case) -> int:
    """Give the proved value of a solvable schedule case, in its own unit."""
    value = case["expect"].get("makespan", case["expect"].get("span"))
    assert isinstance(value, int)
    return value
