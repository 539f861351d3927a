"""Heads and tails: how early an operation can start, and how much time must follow its end.

Longest paths over the waits of `waits.py`. For the makespan a head also waits for the lane to open, and an extra
operation for the loads of every device and lane that must come before it: jobs that run one at a time, released at
their heads, end no earlier than `t + work released at t or later`, whatever t. So does a backward of the last stage
where there are extra operations. A tail counts the same, mirrored, at full rates. For the span of a device only paths
from (to) its own compute count, from its first start (to its last end).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.certificate.rates import Rates
from crosspipe.certificate.verdict import PYTHON_STEP
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosspipe.certificate.verdict import Budget
    from crosspipe.certificate.waits import Edge, Waits
    from crosspipe.problem.problem import Problem

NONE = -(2**62)
"""Head or tail of an operation that no path reaches; far below any sum."""

MOST_EXTRAS = 248
"""Extra operations whose loads are looked at, of those that wait for compute or that compute waits for."""


FEW = 8
"""Microbatches whose backward on the last stage is looked at."""


@dataclass(frozen=True, slots=True)
class Times:
    """Head and tail by operation; negative where no path reaches it."""

    head: list[int]
    tail: list[int]


def times_of_schedule(problem: Problem, waits: Waits, budget: Budget) -> Times:
    """Heads from time 0, tails to the end of the last operation."""
    budget.spend(3 * PYTHON_STEP * len(problem.operations))
    kind = problem.operations.kind.tolist()
    beside = [
        number
        for _, number in problem.extras
        if any(kind[other] <= Kind.BW for other, _ in (*waits.before[number], *waits.after[number]))
    ]
    extras = {*beside[:MOST_EXTRAS], *_turns(problem)}
    duration = problem.operations.duration_ns.tolist()
    resource = problem.operations.resource.tolist()
    rates = {
        len(problem.devices) + number: Rates(lane, budget) for number, lane in enumerate(problem.lanes) if lane.windows
    }
    head, end = [0] * len(duration), [0] * len(duration)
    for number in waits.topological:
        start = max((end[other] + lag for other, lag in waits.before[number]), default=0)
        start = max(start, 0)
        if number in extras:
            start = max(start, _loads(_reached(number, waits.before, budget), head, duration, resource))
        lane = rates.get(resource[number])
        head[number], end[number] = (start, start + duration[number])
        if lane is not None:
            head[number], end[number] = lane.passage(start, duration[number])
    tail = [0] * len(duration)
    for number in reversed(waits.topological):
        least = max((lag + duration[other] + tail[other] for other, lag in waits.after[number]), default=0)
        least = max(least, 0)
        if number in extras:
            least = max(least, _loads(_reached(number, waits.after, budget), tail, duration, resource))
        tail[number] = least
    return Times(head, tail)


def _turns(problem: Problem) -> list[int]:
    """Backwards of the last stage, of a few microbatches; none where there are no extra operations."""
    last, ops = len(problem.stages) - 1, problem.operations
    rows = zip(ops.kind.tolist(), ops.stage.tolist(), ops.microbatch.tolist(), strict=True)
    few = [n for n, row in enumerate(rows) if row[0] in (Kind.B, Kind.BW) and row[1] == last and row[2] < FEW]
    return few if problem.extras else []


def times_on_device(problem: Problem, waits: Waits, device: int, budget: Budget) -> Times:
    """Heads from the first start and tails to the last end of compute on one device."""
    budget.spend(3 * PYTHON_STEP * len(problem.operations))
    kinds, resource = problem.operations.kind.tolist(), problem.operations.resource.tolist()
    duration = problem.operations.duration_ns.tolist()
    own = [resource[n] == device and kinds[n] <= Kind.BW for n in range(len(kinds))]
    head, tail = [0 if mine else NONE for mine in own], [0 if mine else NONE for mine in own]
    for number in waits.topological:
        for other, lag in waits.before[number]:
            if head[other] > NONE:
                head[number] = max(head[number], head[other] + duration[other] + lag)
    for number in reversed(waits.topological):
        for other, lag in waits.after[number]:
            if tail[other] > NONE:
                tail[number] = max(tail[number], lag + duration[other] + tail[other])
    return Times(head, tail)


def _reached(number: int, edges: list[list[Edge]], budget: Budget) -> set[int]:
    """All operations that must come before (after) one."""
    found: set[int] = set()
    front = [number]
    while front:
        for other, _ in edges[front.pop()]:
            if other not in found:
                found.add(other)
                front.append(other)
    budget.spend(PYTHON_STEP * len(found))
    return found


def _loads(jobs: Iterable[int], release: list[int], duration: list[int], resource: list[int]) -> int:
    """Latest end that the jobs of any one device or lane cannot go below."""
    work: dict[int, int] = {}
    best = 0
    for number in sorted(jobs, key=lambda job: -release[job]):
        place = resource[number]
        if place >= 0:
            work[place] = work.get(place, 0) + duration[number]
            best = max(best, release[number] + work[place])
    return best
