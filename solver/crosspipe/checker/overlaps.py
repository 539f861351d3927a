"""Rule: a device runs one operation at a time, a lane carries one message at a time, neither is interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.checker.report import Violation, ViolationKind, in_ms

if TYPE_CHECKING:
    from crosspipe.checker.timetable import Timetable


def overlaps(timetable: Timetable) -> list[Violation]:
    """Report each operation that starts before all earlier ones on its device or lane have ended.

    An operation of no duration may sit at the start or the end of another on its device, not inside it; on a lane it
    never queues.
    """
    problem = timetable.problem
    by_resource: list[list[int]] = [[] for _ in range(problem.resources)]
    for operation, resource in enumerate(timetable.resource):
        if resource >= 0:
            by_resource[resource].append(operation)
    violations: list[Violation] = []
    for resource, operations in enumerate(by_resource):
        kind = ViolationKind.OVERLAP_DEVICE if resource < len(problem.devices) else ViolationKind.OVERLAP_LINK
        busy_until, occupant = None, -1
        for start, end, operation in timetable.placed(operations):
            if kind is ViolationKind.OVERLAP_LINK and start == end:
                continue
            if busy_until is not None and start < busy_until:
                where = problem.resource_name(resource)
                labels = (timetable.label(occupant), timetable.label(operation))
                message = (
                    f"{labels[1]} starts at {in_ms(start)} while {labels[0]} holds {where} until {in_ms(busy_until)}"
                )
                violations.append(Violation(kind, labels, where, start, min(busy_until, end) - start, message))
            if busy_until is None or end > busy_until:
                busy_until, occupant = end, operation
    return violations
