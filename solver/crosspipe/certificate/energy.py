"""Energy: heads and tails that count the work which must run first, or last, on the same device.

Jobs that run one at a time, none before its head, and all before an operation starts, hold it back to `t + the work
with a head of t or more`, whatever t. They are those that must come before it and, of every way in which memory can
make room for it (`crowd.py`), the one that takes least: of a number of jobs among some, the ones with the least heads,
each as short as the shortest. Tails mirrored. Heads and tails are carried on along all waits, and the sums taken anew,
until nothing moves; every state on the way holds. The load of one device or lane with these heads and tails follows.

For the span heads and tails count from the first start and to the last end of compute on the device that is held. What
has no such head may have run before, so its work does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.certificate.crowd import crowds
from crosspipe.certificate.held import gradients_reach_down
from crosspipe.certificate.loads import SPAN_LOAD_FIELDS, between, load, load_between
from crosspipe.certificate.rates import Rates
from crosspipe.certificate.reach import lines_of
from crosspipe.certificate.reading import whole
from crosspipe.certificate.times import NONE, Times
from crosspipe.certificate.verdict import PYTHON_STEP, RefusedError
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.certificate.crowd import Case, Crowd
    from crosspipe.certificate.reading import Part
    from crosspipe.certificate.subject import Subject
    from crosspipe.certificate.verdict import Budget
    from crosspipe.certificate.waits import Edge

ENERGY_FIELDS = SPAN_LOAD_FIELDS
MOST_SWEEPS = 60
"""What a sweep gives holds by itself, so stopping early costs some of the bound and no more."""


def energy(subject: Subject, part: Part) -> int:
    """Derive the load of a device or lane with heads and tails by energy, for the span those of a device held."""
    if subject.objective is Objective.MAKESPAN:
        if part["held"] is not None:
            raise RefusedError("the time a device is held says nothing of the makespan")
        return load(subject, part, subject.resource(part), times_by_energy(subject))
    if whole(part["held"], "held") == part["resource"]:
        device = subject.device(part)
        return load(subject, part, device, times_by_energy(subject, device))
    resource, held = between(subject, part)
    return load_between(subject, part, resource, times_by_energy(subject, held))


def times_by_energy(subject: Subject, held: int | None = None) -> Times:
    """Heads and tails of the whole schedule, or from the first start to the last end of compute on a device held.

    Raises
    ------
    RefusedError
        If microbatches are not alike, gradients do not reach down, or the order of a class is free.
    """
    problem, waits, budget = subject.problem, subject.waits, subject.budget
    if not waits.alike or not gradients_reach_down(problem):
        raise RefusedError("the argument asks for microbatches that are alike and gradients that reach down")
    lines = lines_of(problem, waits)
    pools = [stages for pool, stages in subject.held.items() if problem.pools[pool].capacity is not None]
    duration, resource = problem.operations.duration_ns.tolist(), problem.operations.resource.tolist()
    known = subject.times(0 if held is None else held)
    windowed = enumerate(problem.lanes if held is None else ())
    rates = {len(problem.devices) + number: Rates(lane, budget) for number, lane in windowed if lane.windows}

    def passage(number: int, start: int) -> tuple[int, int]:
        lane = rates.get(resource[number])
        return (start, start + duration[number]) if lane is None else lane.passage(start, duration[number])

    def mirrored(number: int, least: int) -> tuple[int, int]:
        return least, least + duration[number]

    ahead = crowds(lines, waits, pools, budget, after=False)
    behind = crowds(lines, waits, pools, budget, after=True)
    return Times(
        _raised(known.head, waits.topological, waits.before, ahead, duration, passage, budget),
        _raised(known.tail, waits.topological[::-1], waits.after, behind, duration, mirrored, budget),
    )


def _raised(
    known: list[int],
    order: list[int],
    edges: list[list[Edge]],
    crowds_of: dict[int, Crowd],
    duration: list[int],
    passage: Callable[[int, int], tuple[int, int]],
    budget: Budget,
) -> list[int]:
    """Raise heads (or, in reverse order, tails) until nothing moves."""
    waiting = {number: Waiting(crowd, duration, budget) for number, crowd in crowds_of.items()}
    times = list(known)
    end = [start + took if start > NONE else NONE for start, took in zip(times, duration, strict=True)]
    for _ in range(MOST_SWEEPS):
        budget.spend(3 * PYTHON_STEP * len(times))
        moved = False
        for number in order:
            start = max((end[other] + lag for other, lag in edges[number] if end[other] > NONE), default=NONE)
            start = max(start, times[number])
            if number in waiting:
                start = waiting[number].raised(start, times)
            if start > NONE:
                start, end[number] = passage(number, start)
            moved |= start > times[number]
            times[number] = start
        if not moved:
            break
    return times


class Waiting:
    """An operation that waits for a crowd."""

    def __init__(self, crowd: Crowd, duration: list[int], budget: Budget) -> None:
        self._crowd, self._duration, self._budget = crowd, duration, budget
        self._least = [0] * len(crowd.pools)

    def raised(self, known: int, release: list[int]) -> int:
        """Earliest time, at least the one known, at which all of the crowd can be over, from when each is released.

        What is released at no known time counts for nothing, but among some it is what comes first.
        """
        jobs = [(release[n], self._duration[n]) for n in self._crowd.sure]
        best = max(known, self._last_end(jobs))
        for pool, cases in enumerate(self._crowd.pools):
            # The case that was the least last time is likely to be so again; none below what is known raises it.
            least = self._of_case(cases[self._least[pool]], jobs, release)
            if least <= best:
                continue
            for place, case in enumerate(cases):
                end = self._of_case(case, jobs, release)
                if end < least:
                    least, self._least[pool] = end, place
                if least <= best:
                    break
            best = max(best, least)
        return best

    def _of_case(self, case: Case, jobs: list[tuple[int, int]], release: list[int]) -> int:
        chosen = list(jobs)
        for some in case:
            if some.count:
                self._budget.spend(PYTHON_STEP * len(some.among) // 10)
                chosen += [(start, some.each_ns) for start in sorted(release[n] for n in some.among)[: some.count]]
        return self._last_end(chosen)

    def _last_end(self, jobs: list[tuple[int, int]]) -> int:
        self._budget.spend(PYTHON_STEP * len(jobs))
        work, best = 0, NONE
        for start, took in sorted(jobs, reverse=True):
            if start < 0:
                break
            work += took
            best = max(best, start + work)
        return best
