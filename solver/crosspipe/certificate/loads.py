"""Device load and lane load: one thing at a time.

Operations of a device or lane with a head of at least h and a tail of at least q, of w ns together, run one after the
other from h on, and q follows the last: h + w + q. A lane with windows carries w in what its openings let through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.certificate.rates import Rates
from crosspipe.certificate.reading import at_most, integer
from crosspipe.certificate.subject import stated
from crosspipe.certificate.verdict import RefusedError
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.certificate.reading import Part
    from crosspipe.certificate.subject import Subject

LOAD_FIELDS = ("where", "resource", "head_ns", "work_ns", "tail_ns")


def device_load(subject: Subject, part: Part) -> int:
    """Derive the load of a device."""
    return _load(subject, part, subject.device(part))


def lane_load(subject: Subject, part: Part) -> int:
    """Derive the load of a lane."""
    resource = subject.resource(part)
    if resource < len(subject.problem.devices):
        raise RefusedError("resource must be a lane")
    return _load(subject, part, resource)


def _load(subject: Subject, part: Part, resource: int) -> int:
    problem, times = subject.problem, subject.times(resource)
    head, tail = integer(part, "head_ns"), integer(part, "tail_ns")
    rows = problem.by_resource[resource].tolist()
    counted = [n for n in rows if times.head[n] >= head and times.tail[n] >= tail]
    if not counted:
        raise RefusedError("no operation has such a head and such a tail")
    work = at_most(part, "work_ns", sum(int(problem.operations.duration_ns[n]) for n in counted))
    lane = resource - len(problem.devices)
    if lane >= 0 and problem.lanes[lane].windows and subject.objective is Objective.MAKESPAN:
        rates = Rates(problem.lanes[lane], subject.budget)
        if work > 0 and rates.at(head)[0] == 0:
            raise RefusedError("head_ns must be a time at which the lane is open")
        end = rates.done(head, work)
        if end is not None and part["bound_ns"] == end + tail:
            return stated(part, end + tail)
    return stated(part, head + work + tail)
