"""Activations given back sooner: neighbours in the order of a device swapped, as long as that pays.

Where the operation that gives a microbatch's activations back (W, or B) waits for its device alone, it may go before
the one that runs there. It then ends sooner and, if the other is an F, that one takes its memory later; nothing is held
that was not, so no peak rises. What becomes of all other operations the replay tells: a swap is kept if the value is no
larger and the time in flight is less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import DeadlockError, NeverOpensError
from crosspipe.schedule.in_flight import flights, in_flight_ns
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.orders import Orders
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Schedule
    from crosspipe.search.allowance import Allowance

SWAP_S = 2e-6
"""Usual time of a swap that is tried, per operation."""


def give_back_sooner(problem: Problem, schedule: Schedule, objective: Objective, allowance: Allowance) -> Schedule:
    """Swap neighbours until no swap pays or the allowance is over.

    Parameters
    ----------
    problem
        The problem, recompute options applied.
    schedule
        A schedule that fits, at the times of `timed`.
    objective
        Its value never grows.
    allowance
        Charged for every swap that is tried.

    Returns
    -------
    Schedule
        At the times of `timed`; the one given where no swap pays.
    """
    swaps = _Swaps(problem, schedule, objective)
    gained = True
    while gained and not allowance.over():
        gained = False
        for device in range(len(problem.devices)):
            place = 0
            while place + 1 < len(swaps.sequences[device]):
                if not swaps.promises(device, place):
                    place += 1
                    continue
                allowance.spend(SWAP_S * len(problem.operations))
                if allowance.over():
                    return swaps.schedule
                better = swaps.tried(device, place)
                gained = gained or better
                # What went ahead may go further.
                place = max(0, place - 1) if better else place + 1
    return swaps.schedule


class _Swaps:
    """The best orders so far, as lists, with the times they come to."""

    def __init__(self, problem: Problem, schedule: Schedule, objective: Objective) -> None:
        self._problem, self._objective = problem, objective
        self.schedule = schedule
        self.sequences: list[list[int]] = [sequence.tolist() for sequence in schedule.orders.sequences]
        self._closing = set(flights(problem)[1].tolist())
        links = problem.precedences
        self._needs: list[list[tuple[int, int]]] = [[] for _ in range(len(problem.operations))]
        for before, after, lag in zip(links.before.tolist(), links.after.tolist(), links.lag_ns.tolist(), strict=True):
            self._needs[after].append((before, lag))
        self._value_ns = value_ns(problem, schedule, objective)
        self._flight_ns = in_flight_ns(problem, schedule)
        self._start: list[int] = schedule.start_ns.tolist()
        self._end: list[int] = schedule.end_ns.tolist()

    def promises(self, device: int, place: int) -> bool:
        """Whether the later of two neighbours gives back, and waits for nothing but the device."""
        first, second = self.sequences[device][place : place + 2]
        if second not in self._closing or first in self._closing:
            return False
        ready = max((self._end[before] + lag for before, lag in self._needs[second]), default=0)
        return ready < self._start[second] and all(before != first for before, _ in self._needs[second])

    def tried(self, device: int, place: int) -> bool:
        """Swap two neighbours if that pays, and say so."""
        sequence = self.sequences[device]
        sequence[place], sequence[place + 1] = sequence[place + 1], sequence[place]
        better = self._timed()
        if better is None:
            sequence[place], sequence[place + 1] = sequence[place + 1], sequence[place]
            return False
        self.schedule, self._flight_ns = better
        self._start, self._end = self.schedule.start_ns.tolist(), self.schedule.end_ns.tolist()
        return True

    def _timed(self) -> tuple[Schedule, int] | None:
        sequences = tuple(np.array(sequence, dtype=np.int64) for sequence in self.sequences)
        try:
            schedule = timed(self._problem, Orders(sequences, self.schedule.orders.recomputed), self._objective)
        except (DeadlockError, NeverOpensError):
            return None
        flight_ns = in_flight_ns(self._problem, schedule)
        worse = flight_ns >= self._flight_ns or value_ns(self._problem, schedule, self._objective) > self._value_ns
        return None if worse or not fits(self._problem, schedule) else (schedule, flight_ns)
