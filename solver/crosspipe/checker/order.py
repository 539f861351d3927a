"""Rules: the order in which microbatches must follow each other where it is fixed, and deadlines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.checker.report import Violation, ViolationKind, in_ms
from crosspipe.problem.operations import NO_DEADLINE

if TYPE_CHECKING:
    from crosspipe.checker.timetable import Timetable


def order(timetable: Timetable) -> list[Violation]:
    """Report each operation that starts before one it must follow; nothing where the order is free."""
    if not timetable.problem.chains_required:
        return []
    violations: list[Violation] = []
    for chain in timetable.problem.chains:
        latest, leader = None, -1
        for operation in chain.tolist():
            start = timetable.start_ns[operation]
            if start is None:
                continue
            if latest is not None and start < latest:
                labels = (timetable.label(leader), timetable.label(operation))
                message = (
                    f"{labels[1]} starts at {in_ms(start)}, before {labels[0]} at {in_ms(latest)}, "
                    "which the fixed order puts first"
                )
                where = timetable.where(operation)
                violations.append(Violation(ViolationKind.ORDER, labels, where, start, latest - start, message))
            else:
                latest, leader = start, operation
    return violations


def deadlines(timetable: Timetable) -> list[Violation]:
    """Report each operation that ends after its deadline."""
    due_ns = timetable.problem.due_ns
    if due_ns is None:
        return []
    violations: list[Violation] = []
    for operation, (due, end) in enumerate(zip(due_ns.tolist(), timetable.end_ns, strict=True)):
        if end is not None and due != NO_DEADLINE and end > due:
            label = timetable.label(operation)
            message = f"{label} ends at {in_ms(end)}, {in_ms(end - due)} after its deadline"
            where = timetable.where(operation)
            violations.append(Violation(ViolationKind.DEADLINE, (label,), where, end, end - due, message))
    return violations
