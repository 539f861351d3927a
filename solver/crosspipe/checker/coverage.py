"""Rule: every operation is placed exactly once, where it belongs, and not before time 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.checker.placed import Placed, key_of, keys_of
from crosspipe.checker.report import Violation, ViolationKind, in_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.problem import Problem


def match(problem: Problem, placed: Sequence[Placed]) -> tuple[list[Placed | None], list[Violation]]:
    """Find the row of every operation of the problem.

    Returns
    -------
    tuple
        The row by operation number (the first where several claim it, None where none does), and what is missing,
        unknown, placed twice, on a wrong device or lane, or before 0.
    """
    keys = keys_of(problem)
    rows: list[Placed | None] = [None] * len(problem.operations)
    violations: list[Violation] = []
    for row in placed:
        number = keys.get(key_of(row))
        if number is None:
            violations.append(_unknown(row))
        elif (first := rows[number]) is not None:
            violations.append(_duplicate(problem.label(number), first, row))
        else:
            rows[number] = row
            violations += _row_faults(problem, number, row)
    violations += [
        Violation(ViolationKind.MISSING, (label,), _where(problem, number), None, None, f"{label} is not placed")
        for number, row in enumerate(rows)
        if row is None and (label := problem.label(number))
    ]
    return rows, violations


def _where(problem: Problem, number: int) -> str | None:
    resource = int(problem.operations.resource[number])
    return None if resource < 0 else problem.resource_name(resource)


def _unknown(row: Placed) -> Violation:
    message = f"{row.label} is placed, but the problem has no such operation"
    return Violation(ViolationKind.UNKNOWN, (row.label,), None, row.start_ns, None, message)


def _duplicate(label: str, first: Placed, row: Placed) -> Violation:
    message = f"{label} is placed more than once: at {in_ms(first.start_ns)} and at {in_ms(row.start_ns)}"
    return Violation(ViolationKind.DUPLICATE, (label,), None, row.start_ns, None, message)


def _row_faults(problem: Problem, number: int, row: Placed) -> list[Violation]:
    misplaced = row.resource is not None and row.resource != int(problem.operations.resource[number])
    if row.start_ns >= 0 and not misplaced:
        return []
    faults: list[Violation] = []
    where = _where(problem, number)
    label = problem.label(number)
    if row.start_ns < 0:
        message = f"{label} starts at {in_ms(row.start_ns)}, before time 0"
        faults.append(Violation(ViolationKind.NEGATIVE_START, (label,), where, row.start_ns, -row.start_ns, message))
    if row.resource is not None and misplaced:
        known = 0 <= row.resource < problem.resources
        claimed = problem.resource_name(row.resource) if known else "nothing"
        message = f"{label} is placed on {claimed} but belongs on {where or 'nothing'}"
        faults.append(Violation(ViolationKind.WRONG_RESOURCE, (label,), claimed, row.start_ns, None, message))
    return faults
