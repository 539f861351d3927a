"""Rules: an operation lasts as long as the problem says, and no message is under way while its lane is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.checker.lanes import LaneRates
from crosspipe.checker.report import Violation, ViolationKind, in_ms
from crosspipe.checker.timetable import Timetable

if TYPE_CHECKING:
    from crosspipe.checker.placed import Placed
    from crosspipe.problem.problem import Problem


def time_all(problem: Problem, rows: list[Placed | None]) -> tuple[Timetable, list[Violation]]:
    """Work out when every placed operation must end, and compare with the ends claimed."""
    durations = problem.operations.duration_ns.tolist()
    resources = problem.operations.resource.tolist()
    first_lane = len(problem.devices)
    rates = {first_lane + i: LaneRates(lane) for i, lane in enumerate(problem.lanes) if lane.windows}
    starts: list[int | None] = [None] * len(rows)
    ends: list[int | None] = [None] * len(rows)
    timetable = Timetable(problem, starts, ends)
    violations: list[Violation] = []
    for number, row in enumerate(rows):
        if row is None:
            continue
        start = starts[number] = row.start_ns
        end = start + durations[number]
        if (lane := rates.get(resources[number])) is not None:
            passage = lane.passage(start, durations[number])
            end = passage.end_ns
            if passage.closed_at_ns is not None:
                violations.append(_closed(timetable, number, passage.closed_at_ns, passage.closed_ns))
        ends[number] = end
        if row.end_ns is not None and row.end_ns != end:
            violations.append(_duration(timetable, number, row.end_ns, end))
    return timetable, violations


def _closed(timetable: Timetable, number: int, at_ns: int, closed_ns: int) -> Violation:
    label, where = timetable.label(number), timetable.where(number)
    message = f"{label} is under way on {where} at {in_ms(at_ns)}, while it is closed, for {in_ms(closed_ns)} in all"
    return Violation(ViolationKind.WINDOW, (label,), where, at_ns, closed_ns, message)


def _duration(timetable: Timetable, number: int, claimed: int, end: int) -> Violation:
    label = timetable.label(number)
    message = f"{label} is said to end at {in_ms(claimed)} but, started when it is, ends at {in_ms(end)}"
    return Violation(ViolationKind.DURATION, (label,), timetable.where(number), claimed, abs(claimed - end), message)
