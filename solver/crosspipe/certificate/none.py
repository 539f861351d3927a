"""Why a placement has no schedule at all: a microbatch that does not fit by itself, or a missing route.

Strike all microbatches but one from a schedule: what is held only falls. On a device its forwards come in the order of
the stages, its backwards in reverse; W takes nothing, so it is best run at once. What counts is what is held while an
operation that takes time runs. If that exceeds what the pool can hold, no schedule exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.certificate.gathered import gathered
from crosspipe.certificate.held import gradients_reach_down
from crosspipe.certificate.reading import equal, integer, text
from crosspipe.certificate.verdict import RefusedError
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.certificate.held import Held
    from crosspipe.certificate.reading import Part
    from crosspipe.certificate.subject import Subject

NO_ROOM_FIELDS = ("where", "pool", "microbatch", "needs")
NO_ROUTE_FIELDS = ("where", "boundary", "message")
MESSAGES = {"activation": Kind.ACTIVATION, "gradient": Kind.GRADIENT}


def no_room(subject: Subject, part: Part) -> None:
    """Derive that a pool cannot hold one microbatch."""
    problem = subject.problem
    number, microbatch = integer(part, "pool"), integer(part, "microbatch")
    if number >= len(problem.pools) or microbatch >= problem.microbatches:
        raise RefusedError("there is no such pool or microbatch")
    pool = problem.pools[number]
    if text(part, "where") != problem.resource_name(pool.device):
        raise RefusedError(f"pool {number} is that of {problem.resource_name(pool.device)}, not what is named")
    if not gradients_reach_down(problem):
        raise RefusedError("the argument asks for gradients that reach down")
    peaks = [least_peak(subject, subject.held[number], j) for j in range(problem.microbatches)]
    if peaks.index(max(peaks)) != microbatch:
        raise RefusedError(f"microbatch {peaks.index(max(peaks))} needs most, or is the first that does")
    needs = equal(part, "needs", pool.base + gathered(problem, number) + peaks[microbatch])
    if pool.capacity is None or needs <= pool.capacity:
        raise RefusedError(f"{problem.resource_name(pool.device)} can hold {needs} {pool.unit}")


def least_peak(subject: Subject, stages: list[Held], microbatch: int) -> int:
    """Most that one microbatch by itself makes the pool hold at least."""
    problem = subject.problem

    def takes_time(kind: Kind, held: Held) -> bool:
        number = problem.number(kind, held.stage, microbatch, held.replica)
        return number is not None and int(problem.operations.duration_ns[number]) > 0

    level = peak = 0
    for held in stages:
        level += held.waiting(microbatch)
        if takes_time(Kind.F, held):
            peak = max(peak, level + held.in_forward[microbatch])
    for held in reversed(stages):
        if held.backward is None:
            continue
        if takes_time(held.backward, held):
            peak = max(peak, level + held.backward_to_weight[microbatch] + held.in_backward[microbatch])
        level -= held.waiting(microbatch)
        if takes_time(Kind.W, held):
            peak = max(peak, level + held.after_backward(microbatch))
    return peak


def no_route(subject: Subject, part: Part) -> None:
    """Derive that two devices which exchange messages are not joined."""
    problem = subject.problem
    boundary, kind = integer(part, "boundary"), MESSAGES.get(text(part, "message"))
    found = [hop for hop in problem.hops if hop.boundary == boundary and hop.kind == kind and hop.missing]
    if not found:
        raise RefusedError(f"a route for the {part['message']} over boundary {boundary} exists")
    if text(part, "where") != f"{problem.devices[found[0].sender].name} to {problem.devices[found[0].receiver].name}":
        raise RefusedError("the missing route does not join the devices that are named")
