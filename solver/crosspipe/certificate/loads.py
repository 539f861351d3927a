"""Device load, lane load and span load: one thing at a time.

Operations of a device or lane with a head of at least h and a tail of at least q, of w ns together, run one after the
other from h on, and q follows the last: h + w + q. A lane with windows carries w in what its openings let through.

Span load: heads and tails count from the first start to the last end of compute on a device that is held. Work of any
device or lane that has both lies in that time, so h + w + q bounds the span.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.certificate.rates import Rates
from crosspipe.certificate.reading import at_most, integer, text, whole
from crosspipe.certificate.subject import stated
from crosspipe.certificate.verdict import RefusedError
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.certificate.reading import Part
    from crosspipe.certificate.subject import Subject
    from crosspipe.certificate.times import Times

LOAD_FIELDS = ("where", "resource", "head_ns", "work_ns", "tail_ns")
SPAN_LOAD_FIELDS = ("where", "resource", "held", "head_ns", "work_ns", "tail_ns")


def device_load(subject: Subject, part: Part) -> int:
    """Derive the load of a device."""
    device = subject.device(part)
    return load(subject, part, device, subject.times(device))


def lane_load(subject: Subject, part: Part) -> int:
    """Derive the load of a lane."""
    resource = subject.resource(part)
    if resource < len(subject.problem.devices):
        raise RefusedError("resource must be a lane")
    return load(subject, part, resource, subject.times(resource))


def span_load(subject: Subject, part: Part) -> int:
    """Derive the load of a device or lane within the time that a device is held."""
    if subject.objective is not Objective.SPAN:
        raise RefusedError("the time a device is held says nothing of the makespan")
    resource, held = between(subject, part)
    return load_between(subject, part, resource, subject.times(held))


def between(subject: Subject, part: Part) -> tuple[int, int]:
    """Read the device or lane of an argument and the device that is held, which `where` must name as well."""
    problem = subject.problem
    resource, held = whole(part["resource"], "resource"), whole(part["held"], "held")
    if resource >= problem.resources or held >= len(problem.devices):
        raise RefusedError("resource must be a device or lane, held a device")
    if text(part, "where") != f"{problem.resource_name(resource)} while {problem.resource_name(held)} is held":
        raise RefusedError("the argument speaks of another device or lane")
    return resource, held


def load_between(subject: Subject, part: Part, resource: int, times: Times) -> int:
    """Derive the load of a device or lane, at full rate, with the heads and tails given."""
    return stated(part, sum(_head_work_tail(subject, part, resource, times)))


def load(subject: Subject, part: Part, resource: int, times: Times) -> int:
    """Derive the load of a device or lane with the heads and tails given."""
    problem = subject.problem
    head, work, tail = _head_work_tail(subject, part, resource, times)
    lane = resource - len(problem.devices)
    if lane >= 0 and problem.lanes[lane].windows and subject.objective is Objective.MAKESPAN:
        rates = Rates(problem.lanes[lane], subject.budget)
        if work > 0 and rates.at(head)[0] == 0:
            raise RefusedError("head_ns must be a time at which the lane is open")
        end = rates.done(head, work)
        if end is not None and part["bound_ns"] == end + tail:
            return stated(part, end + tail)
    return stated(part, head + work + tail)


def _head_work_tail(subject: Subject, part: Part, resource: int, times: Times) -> tuple[int, int, int]:
    """Read a load; its work is at most that of the operations with at least its head and tail."""
    operations = subject.problem.operations
    head, tail = integer(part, "head_ns"), integer(part, "tail_ns")
    rows = subject.problem.by_resource[resource].tolist()
    counted = [n for n in rows if times.head[n] >= head and times.tail[n] >= tail]
    if not counted:
        raise RefusedError("no operation has such a head and such a tail")
    work = at_most(part, "work_ns", sum(int(operations.duration_ns[n]) for n in counted))
    return head, work, tail
