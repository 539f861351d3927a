"""Energy: heads and tails that count the work which must run first, or last, on the same device.

Jobs that run one at a time, none before its head, and all before an operation starts, hold it back to `t + the work
with a head of t or more`, whatever t. They are those that must come before it and, of every way in which memory can
make room for it (`crowd.py`), the one that takes least: of a number of jobs among some, the ones with the least heads,
each as short as the shortest. Tails mirrored. Heads and tails are carried on along all waits, and the sums taken anew,
until nothing moves; every state on the way holds. The load of one device or lane with these heads and tails follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.certificate.crowd import crowds
from crosspipe.certificate.held import gradients_reach_down
from crosspipe.certificate.loads import LOAD_FIELDS, load
from crosspipe.certificate.rates import Rates
from crosspipe.certificate.reach import lines_of
from crosspipe.certificate.times import Times
from crosspipe.certificate.verdict import PYTHON_STEP, RefusedError
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.certificate.crowd import Case, Crowd
    from crosspipe.certificate.reading import Part
    from crosspipe.certificate.subject import Subject
    from crosspipe.certificate.verdict import Budget

ENERGY_FIELDS = LOAD_FIELDS
MOST_SWEEPS = 60


def energy(subject: Subject, part: Part) -> int:
    """Derive the load of a device or lane with heads and tails by energy."""
    if subject.objective is not Objective.MAKESPAN:
        raise RefusedError("heads and tails by energy say nothing of the span")
    resource = subject.resource(part)
    return load(subject, part, resource, times_by_energy(subject))


def times_by_energy(subject: Subject) -> Times:
    """Heads and tails of the whole schedule.

    Raises
    ------
    RefusedError
        If microbatches are not alike, gradients do not reach down, or the order of a class is free.
    """
    problem, waits, budget = subject.problem, subject.waits, subject.budget
    if not waits.alike or not gradients_reach_down(problem):
        raise RefusedError("the argument asks for microbatches that are alike and gradients that reach down")
    lines = lines_of(problem, waits)
    pools = [held for pool, held in subject.held.items() if problem.pools[pool].capacity is not None]
    duration, resource = problem.operations.duration_ns.tolist(), problem.operations.resource.tolist()
    known = subject.times(0)
    rates = {
        len(problem.devices) + number: Rates(lane, budget) for number, lane in enumerate(problem.lanes) if lane.windows
    }
    ahead = {
        n: Waiting(crowd, duration, budget) for n, crowd in crowds(lines, waits, pools, budget, after=False).items()
    }
    head, end = list(known.head), [start + took for start, took in zip(known.head, duration, strict=True)]
    for _ in range(MOST_SWEEPS):
        budget.spend(3 * PYTHON_STEP * len(head))
        moved = False
        for number in waits.topological:
            start = max((end[other] + lag for other, lag in waits.before[number]), default=0)
            start = max(start, head[number])
            if number in ahead:
                start = ahead[number].raised(start, head)
            lane = rates.get(resource[number])
            found = (start, start + duration[number]) if lane is None else lane.passage(start, duration[number])
            moved |= found[0] > head[number]
            head[number], end[number] = found
        if not moved:
            break
    behind = {
        n: Waiting(crowd, duration, budget) for n, crowd in crowds(lines, waits, pools, budget, after=True).items()
    }
    tail = list(known.tail)
    for _ in range(MOST_SWEEPS):
        budget.spend(3 * PYTHON_STEP * len(tail))
        moved = False
        for number in reversed(waits.topological):
            least = max((lag + duration[other] + tail[other] for other, lag in waits.after[number]), default=0)
            least = max(least, tail[number])
            if number in behind:
                least = behind[number].raised(least, tail)
            moved |= least > tail[number]
            tail[number] = least
        if not moved:
            break
    return Times(head, tail)


class Waiting:
    """An operation that waits for a crowd."""

    def __init__(self, crowd: Crowd, duration: list[int], budget: Budget) -> None:
        self._crowd, self._duration, self._budget = crowd, duration, budget
        self._least = [0] * len(crowd.pools)

    def raised(self, known: int, release: list[int]) -> int:
        """Earliest time, at least the one known, at which all of the crowd can be over, from when each is released."""
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
        work = best = 0
        for start, took in sorted(jobs, reverse=True):
            work += took
            best = max(best, start + work)
        return best
