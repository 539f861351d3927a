"""Heads and tails raised by what must run on the same device first, round by round: the sums of `energy.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.bounds.timing import Timing, passed_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.bounds.energy_machine import Machine
    from crosspipe.bounds.energy_memory import Choice, Demand
    from crosspipe.bounds.graph import Graph
    from crosspipe.problem.links import Lane
    from crosspipe.problem.operations import IntArray

MOST_ROUNDS = 40
"""What a round gives holds by itself, so stopping early costs some of the bound and no more."""

SAMPLED = 12
"""Times by which cases are told apart before any is summed up in full."""


def energy_times(
    graph: Graph, times: Timing, machines: Sequence[tuple[Machine, Machine]], lanes: Sequence[Lane]
) -> Timing:
    """Raise heads and tails, `times` being their longest paths, openings of `lanes` counted for heads."""
    raised, tail = times, times.tail.copy()
    forwards = _Raising([machine for machine, _ in machines])
    for _ in range(MOST_ROUNDS):
        head = raised.head.copy()
        if not forwards.raised(head):
            break
        raised = passed_on(graph, head, lanes)
    backwards = _Raising([machine for _, machine in machines])
    for _ in range(MOST_ROUNDS):
        if not backwards.raised(tail):
            break
        for step in graph.backward:
            longest = np.maximum.reduceat(tail[step.others] + step.weights, step.offsets)
            tail[step.targets] = np.maximum(tail[step.targets], longest)
    return Timing(raised.head, raised.finish, tail, times.blocked)


class _Raising:
    """Machines, with the times for which the sums of each were last taken."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self._machines = machines
        self._last: list[IntArray | None] = [None] * len(machines)

    def raised(self, times: IntArray) -> bool:
        """Raise in place the times of every operation that must wait for more; whether any was."""
        moved = False
        for place, machine in enumerate(self._machines):
            release, last = times[machine.rows], self._last[place]
            if last is not None and np.array_equal(release, last):
                continue
            self._last[place] = release
            earliest = earliest_starts(release, machine).reshape(release.shape)
            # Where no path reaches, and nothing that counts must come first, there is still no time.
            times[machine.rows] = np.where(earliest > 0, np.maximum(release, earliest), release)
            moved |= bool((times[machine.rows] > release).any())
        return moved


def earliest_starts(release: IntArray, machine: Machine) -> IntArray:
    """Earliest time by which what must come first can be over, by place.

    `release` has a row per class, not falling. Any time t may stand for the beginning of the busy period that decides;
    one with an operation of the same class right before it does not, as an earlier t gives as much.
    """
    gap = np.ones(release.shape, dtype=bool)
    gap[:, 1:] = np.diff(release, axis=1) > machine.shortest[:, None]
    starts = np.unique(release[gap & (release >= 0)])
    released = np.array([np.searchsorted(row, starts, side="left") for row in release])
    work = np.zeros((len(machine.forced), len(starts)), dtype=np.int64)
    for column, duration in enumerate(machine.durations.tolist()):
        work += duration * np.maximum(machine.forced[:, column, None] - released[column], 0)
    earliest = _last_end(starts, work)
    for demand in machine.demands:
        known = np.maximum(earliest, release.ravel())
        places, cheapest = _cheapest(demand, machine, starts, released, work, known)
        earliest[places] = np.maximum(earliest[places], cheapest)
    return earliest


def _cheapest(
    demand: Demand, machine: Machine, starts: IntArray, released: IntArray, work: IntArray, known: IntArray
) -> tuple[IntArray, IntArray]:
    """Find the least over the cases of each place that has any; or some case's time, where none raises what is known.

    A few of the times that may begin a busy period bound every case from below; the case with the least such bound is
    summed up in full, and after it only those whose bound does not tell that they are worse.
    """
    places, firsts, owner = np.unique(demand.operation, return_index=True, return_inverse=True)
    forced, passed = work[places], [_passed(choice, machine, released, places) for choice in demand.choices]

    def ends(cases: IntArray, columns: IntArray) -> IntArray:
        at = np.ix_(owner[cases], columns)
        total = forced[at]
        for choice, gone in zip(demand.choices, passed, strict=True):
            total += choice.each_ns * np.maximum(choice.count[cases, None] - gone[at], 0)
        return _last_end(starts[columns], total)

    everything = np.arange(len(starts))
    low = ends(np.arange(len(owner)), everything[:: max(1, len(starts) // SAMPLED)])
    promising = np.flatnonzero(low == np.minimum.reduceat(low, firsts)[owner])
    promising = promising[np.unique(owner[promising], return_index=True)[1]]
    found = ends(promising, everything)
    left = np.flatnonzero((low < found[owner]) & (found > known[places])[owner])
    np.minimum.at(found, owner[left], ends(left, everything))
    return places, found


def _passed(choice: Choice, machine: Machine, released: IntArray, places: IntArray) -> IntArray:
    """How many of the operations to choose from are released before each time, those forced left out, by place."""
    passed = np.zeros((len(places), released.shape[1]), dtype=np.int64)
    for k, column in enumerate(choice.classes.tolist()):
        upto = np.minimum(released[column], choice.limit[places, k, None])
        passed += np.maximum(upto - machine.forced[places, column, None], 0)
    return passed


def _last_end(starts: IntArray, work: IntArray) -> IntArray:
    """Largest `start + work` over starts with work to come, 0 if there is none."""
    ends: IntArray = np.where(work > 0, starts + work, 0).max(axis=1, initial=0)
    return ends
