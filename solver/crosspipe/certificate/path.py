"""Critical path: a chain of operations, each waiting for the one before.

From the head of the first one: each runs as its lane allows, and its successor waits for its end and the lag. Behind
the operation `turn`, the last one that windows make longer (the first one if none do), full rates are taken. The tail
of the last one follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.certificate.rates import Rates
from crosspipe.certificate.reading import at_most, integer, rows, text, whole
from crosspipe.certificate.subject import stated
from crosspipe.certificate.verdict import RefusedError
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.certificate.reading import Part
    from crosspipe.certificate.subject import Subject

PATH_FIELDS = ("where", "operations", "waits", "turn", "head_ns", "tail_ns")


def critical_path(subject: Subject, part: Part) -> int:
    """Derive the length of a path."""
    problem = subject.problem
    if subject.objective is not Objective.MAKESPAN:
        raise RefusedError("a path says nothing of the span")
    most = len(problem.operations)
    path = [whole(number, "an operation") for number in rows(part, "operations", most)]
    reasons, turn = rows(part, "waits", most), integer(part, "turn")
    if not path or max(path) >= most or len(reasons) != len(path) - 1 or turn >= len(path):
        raise RefusedError("a path is one operation or more of the problem, and a wait between each two")
    if text(part, "where") != f"{problem.label(path[0])} to {problem.label(path[-1])}":
        raise RefusedError("the path does not lead from where to where it is said to")
    lags = [subject.waits.lag(str(why), path[k], path[k + 1]) for k, why in enumerate(reasons)]
    times = subject.times(0)
    head, tail = at_most(part, "head_ns", times.head[path[0]]), at_most(part, "tail_ns", times.tail[path[-1]])
    first_lane = len(problem.devices)
    rates = {first_lane + k: Rates(lane, subject.budget) for k, lane in enumerate(problem.lanes) if lane.windows}
    resource = problem.operations.resource[path].tolist()
    now = head
    for place, number in enumerate(path):
        duration = int(problem.operations.duration_ns[number])
        if place <= turn and resource[place] in rates:
            start, end = rates[resource[place]].passage(now, duration)
            if place == 0 and start != head:
                raise RefusedError("head_ns must be a time at which the first operation can start")
            longer = end > now + duration
            now = end
        else:
            longer = False
            now += duration
        if place == turn > 0 and not longer:
            raise RefusedError("turn must be an operation that windows make longer, or 0")
        if place < len(lags):
            lag = lags[place]
            if lag is None:
                raise RefusedError(
                    f"{problem.label(path[place + 1])} does not wait for {problem.label(number)} as it is said to"
                )
            now += lag
    return stated(part, now + tail)
