"""Bounds of one stage with limited memory: start-up, last forward, round trip.

All microbatches alike, every class of the stage in index order, one pool with room C on its device. R is the head of
the stage's first backward. A microbatch holds A from the start of its F (which takes time) to the end of its backward,
earlier stages on the device counted, so at most K = floor(C / A) are in between.

Start-up. Before the first backward on the device, nothing its stages' forwards took is given back: at most
floor(C / smallest activation) forwards start, and the device cannot have worked longer than since its first head. The
rest of its work follows, then its least tail.

Last forward. When the last F starts, the activations a of all m have been taken; each backward gave back d at most
(what it took for W counted against it), each W gave back w. So b backwards and x <= b <= m - 1 weights with
`d b + w x >= a m - C` are over, all after R; at least m - 1 - K forwards start after R as well. All of it lies between
R and the last F; its round trip, its backward and the tail of the last backward follow.

Round trip. F(j + K) waits for the backward of j; its own backward starts a round trip after it. So the backward of
i K starts at R + i (round trip + backward) or later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.certificate.held import backward_of, gradients_reach_down
from crosspipe.certificate.reading import at_least, at_most, equal
from crosspipe.certificate.subject import stated
from crosspipe.certificate.verdict import RefusedError
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.certificate.held import Held
    from crosspipe.certificate.reading import Part
    from crosspipe.certificate.subject import Subject

START_UP_FIELDS = (
    "where",
    "resource",
    "first_backward_ns",
    "before_ns",
    "forwards_before",
    "work_ns",
    "tail_ns",
)
ROUND_TRIP_FIELDS = (
    "where",
    "resource",
    "stage",
    "first_backward_ns",
    "turns",
    "in_flight",
    "round_trip_ns",
    "backward_ns",
    "tail_ns",
)
LAST_FORWARD_FIELDS = (
    "where",
    "resource",
    "stage",
    "surplus",
    "first_backward_ns",
    "backwards",
    "weights",
    "forwards",
    "backward_ns",
    "weight_ns",
    "forward_ns",
    "round_trip_ns",
    "tail_ns",
)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage under one pool; `most` is K."""

    held: Held
    room: int
    most: int
    forward_ns: int
    backward_ns: int
    weight_ns: int
    first_backward: int
    last_backward: int


def start_up(subject: Subject, part: Part) -> int:
    """Derive the start-up of a device."""
    device = subject.device(part)
    return _under_some_pool(subject, device, lambda pool: _start_up(subject, part, device, pool))


def last_forward(subject: Subject, part: Part) -> int:
    """Derive the last forward of a stage."""
    device = subject.device(part)
    stage = subject.stage(part, device)
    return _under_some_pool(subject, device, lambda pool: _last_forward(subject, part, device, pool, stage))


def round_trip(subject: Subject, part: Part) -> int:
    """Derive the round trips of a stage."""
    device = subject.device(part)
    stage = subject.stage(part, device)
    return _under_some_pool(subject, device, lambda pool: _round_trip(subject, part, device, pool, stage))


def _under_some_pool(subject: Subject, device: int, derive: Callable[[int], int]) -> int:
    """Derive under the first pool of the device that bears it out: an argument does not say which it speaks of."""
    refusal = RefusedError("nothing limits what the device holds")
    for number, pool in enumerate(subject.problem.pools):
        if pool.device == device and pool.capacity is not None:
            try:
                return derive(number)
            except RefusedError as error:
                refusal = error
    raise refusal


def _start_up(subject: Subject, part: Part, device: int, pool: int) -> int:
    problem, times = subject.problem, subject.times(device)
    stages = [_stage(subject, pool, stage) for stage in sorted(problem.devices[device].stages)]
    if not stages:
        raise RefusedError("the device has no stage")
    rows = subject.compute(device)
    most = equal(part, "forwards_before", stages[0].room // min(stage.held.waiting(0) for stage in stages))
    first = at_most(part, "first_backward_ns", min(times.head[stage.first_backward] for stage in stages))
    started = min(times.head[number] for number in rows)
    before = at_least(part, "before_ns", min(most * max(s.forward_ns for s in stages), max(first - started, 0)))
    work = equal(part, "work_ns", sum(int(problem.operations.duration_ns[number]) for number in rows))
    tail = at_most(part, "tail_ns", min(times.tail[number] for number in rows))
    return stated(part, first + work - before + tail)


def _last_forward(subject: Subject, part: Part, device: int, pool: int, stage: int) -> int:
    one, times, count = _stage(subject, pool, stage), subject.times(device), subject.problem.microbatches
    held = one.held
    surplus = held.waiting(0) * count - one.room
    if surplus <= 0:
        raise RefusedError("all microbatches fit at once")
    equal(part, "surplus", surplus)
    given_back = held.to_backward[0] - held.backward_to_weight[0]
    best: tuple[int, int, int] | None = None
    for backwards in range(count):
        missing = max(0, surplus - given_back * backwards)
        by_weight = held.after_backward(0)
        weights = 0 if missing == 0 else count if by_weight <= 0 else -(-missing // by_weight)
        if weights <= backwards:
            given = backwards * one.backward_ns + weights * one.weight_ns
            best = (given, backwards, weights) if best is None or given < best[0] else best
    if best is None:
        raise RefusedError("the last forward finds no room at all")
    work = best[0]
    for name, derived in (
        ("backwards", best[1]),
        ("weights", best[2]),
        ("backward_ns", one.backward_ns),
        ("weight_ns", one.weight_ns),
        ("forward_ns", one.forward_ns),
        ("forwards", max(0, count - 1 - one.most)),
    ):
        equal(part, name, derived)
    work += max(0, count - 1 - one.most) * one.forward_ns
    first = at_most(part, "first_backward_ns", times.head[one.first_backward])
    trip = at_most(part, "round_trip_ns", _trip(subject, held.replica, stage))
    tail = at_most(part, "tail_ns", times.tail[one.last_backward])
    return stated(part, first + work + trip + one.backward_ns + tail)


def _round_trip(subject: Subject, part: Part, device: int, pool: int, stage: int) -> int:
    one, times, count = _stage(subject, pool, stage), subject.times(device), subject.problem.microbatches
    most = equal(part, "in_flight", one.most)
    turns = equal(part, "turns", (count - 1) // most)
    first = at_most(part, "first_backward_ns", times.head[one.first_backward])
    trip = at_most(part, "round_trip_ns", _trip(subject, one.held.replica, stage))
    backward_ns = equal(part, "backward_ns", one.backward_ns)
    tail = at_most(part, "tail_ns", times.tail[one.last_backward])
    return stated(part, first + turns * (trip + backward_ns) + backward_ns + tail)


def _stage(subject: Subject, pool: int, stage: int) -> Stage:
    """Collect what the arguments need of a stage.

    Raises
    ------
    RefusedError
        If their conditions do not hold.
    """
    problem, waits = subject.problem, subject.waits
    if not waits.alike or not gradients_reach_down(problem):
        raise RefusedError("the argument asks for microbatches that are alike and gradients that reach down")
    below = 0
    found: Held | None = None
    for held in subject.held[pool]:
        if held.stage == stage:
            found = held
            break
        below += held.waiting(0) if held.backward is not None else 0
    if found is None or found.backward is None or found.room is None:
        raise RefusedError(f"stage {stage} holds nothing until its backward")
    replica, kind = found.replica, found.backward
    forwards, backwards = (problem.numbers[k, replica, stage].tolist() for k in (Kind.F, kind))
    ordered = waits.ordered
    known = [ordered.get((int(k), replica, stage, 0)) for k in (Kind.F, kind)]
    if known != [forwards, backwards]:
        raise RefusedError(f"the order of stage {stage} is free")
    duration = problem.operations.duration_ns
    each = below + found.waiting(0)
    if not (duration[forwards] > 0).all() or not 0 < each <= found.room or found.waiting(0) == 0:
        raise RefusedError(f"stage {stage} holds nothing of the pool, or more than it has")
    weight = problem.number(Kind.W, stage, 0, replica)
    return Stage(
        found,
        found.room,
        found.room // each,
        int(duration[forwards[0]]),
        int(duration[backwards[0]]),
        0 if weight is None else int(duration[weight]),
        backwards[0],
        backwards[-1],
    )


def _trip(subject: Subject, replica: int, stage: int) -> int:
    """Least time from the start of F to the start of the backward of one microbatch, by its own waits alone."""
    problem, waits = subject.problem, subject.waits
    ops = problem.operations
    start = int(problem.numbers[Kind.F, replica, stage, 0])
    backward = backward_of(problem, stage, replica)
    goal = int(problem.numbers[Kind.F if backward is None else backward, replica, stage, 0])
    own = {
        int(number)
        for number in problem.numbers_by_leg[:, :, replica, :, 0].ravel()
        if number >= 0 and ops.microbatch[number] == 0 and ops.replica[number] == replica
    }
    since = {start: 0}
    for number in waits.topological:
        if number not in own or number not in since:
            continue
        end = since[number] + int(ops.duration_ns[number])
        for other, _ in waits.after[number]:
            lag = waits.given.get((number, other))
            if other in own and lag is not None:
                since[other] = max(since.get(other, 0), end + lag)
    return since.get(goal, 0)


__all__ = [
    "LAST_FORWARD_FIELDS",
    "ROUND_TRIP_FIELDS",
    "START_UP_FIELDS",
    "last_forward",
    "round_trip",
    "start_up",
]
