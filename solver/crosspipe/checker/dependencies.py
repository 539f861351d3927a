"""Rule: an operation starts when everything it needs has ended and arrived; and a message needs a route at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.checker.report import Violation, ViolationKind, in_ms
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.checker.timetable import Timetable


def dependencies(timetable: Timetable) -> list[Violation]:
    """Report each precedence whose later operation starts before the earlier one's end plus the lag."""
    rows = timetable.problem.precedences
    violations: list[Violation] = []
    for before, after, lag in zip(rows.before.tolist(), rows.after.tolist(), rows.lag_ns.tolist(), strict=True):
        ended, start = timetable.end_ns[before], timetable.start_ns[after]
        if ended is None or start is None or start >= ended + lag:
            continue
        labels = (timetable.label(before), timetable.label(after))
        early = ended + lag - start
        arrival = f" and takes {in_ms(lag)} to arrive" if lag else ""
        message = f"{labels[1]} starts at {in_ms(start)}, {in_ms(early)} too early: {labels[0]} ends at {in_ms(ended)}"
        where = timetable.where(after)
        violations.append(Violation(ViolationKind.DEPENDENCY, labels, where, start, early, message + arrival))
    return violations


def routes(timetable: Timetable) -> list[Violation]:
    """Report each pair of devices that must exchange messages and has no link."""
    problem = timetable.problem
    violations: list[Violation] = []
    for hop in problem.hops:
        if hop.missing:
            sender, receiver = problem.devices[hop.sender].name, problem.devices[hop.receiver].name
            what = "activations" if hop.kind is Kind.ACTIVATION else "gradients"
            message = f"no link carries the {what} over boundary {hop.boundary} from {sender} to {receiver}"
            violations.append(Violation(ViolationKind.ROUTE, (), f"{sender} to {receiver}", None, None, message))
    return violations
