"""How much a lane can carry by any time, and how long its openings are."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.problem.pieces import rate_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.problem.links import Lane

MOST_PIECES = 10**5
"""Pieces of constant rate looked at; a lane with more is taken to be always open, which weakens bounds and no more."""


@dataclass(frozen=True, slots=True)
class Openings:
    """The rate of a lane in pieces. Work is counted in rate x ns: a transfer of `d` ns at the full rate is `d * full`.

    Attributes
    ----------
    full
        The full rate.
    starts, rates
        Piece k has `rates[k]` from `starts[k]` to `starts[k + 1]`. Without `repeat` the last piece never ends; with it
        the last start ends a round: the pieces from `repeat` to there come again and again.
    carried
        Work possible before each start.
    """

    full: int
    starts: tuple[int, ...]
    rates: tuple[int, ...]
    carried: tuple[int, ...]
    repeat: int | None

    def work_by(self, time_ns: int) -> int:
        """Work that the lane can do in [0, time)."""
        time_ns, rounds = self._first_round(time_ns)
        k = bisect_right(self.starts, time_ns) - 1
        return rounds * self._each_round() + self.carried[k] + (time_ns - self.starts[k]) * self.rates[k]

    def time_of(self, work: int) -> int | None:
        """First integer time by which the lane can have done `work`; None if it never can."""
        if work <= 0:
            return 0
        rounds = 0
        if self.repeat is not None and work > self.carried[-1]:
            if self._each_round() == 0:
                return None
            rounds = -(-(work - self.carried[-1]) // self._each_round())
            work -= rounds * self._each_round()
        k = bisect_left(self.carried, work) - 1
        if self.rates[k] == 0:
            return None
        return self.starts[k] - (-(work - self.carried[k]) // self.rates[k]) + rounds * self._period()

    def widest(self, after_ns: int = 0) -> int | None:
        """Most work of one opening from `after_ns` on, without a moment of rate 0; None if an opening never ends."""
        if self.repeat is None and self.rates[-1] > 0:
            return None
        if self.repeat is not None and all(rate > 0 for rate in self.rates[self.repeat : -1]):
            return None
        most = run = 0
        for length, rate in self._pieces(after_ns):
            run = run + length * rate if rate else 0
            most = max(most, run)
        return most

    def _pieces(self, after_ns: int) -> Iterator[tuple[int, int]]:
        """Length and rate from `after_ns` on, up to the last change or for two whole rounds more."""
        now, _ = self._first_round(after_ns)
        pieces = list(zip(pairwise(self.starts), self.rates, strict=False))
        for (start, end), rate in pieces:
            if end > now:
                yield end - max(start, now), rate
        for (start, end), rate in 2 * pieces[self.repeat :] if self.repeat is not None else ():
            yield end - start, rate

    def _period(self) -> int:
        return 0 if self.repeat is None else self.starts[-1] - self.starts[self.repeat]

    def _each_round(self) -> int:
        return 0 if self.repeat is None else self.carried[-1] - self.carried[self.repeat]

    def _first_round(self, time_ns: int) -> tuple[int, int]:
        if self.repeat is None or time_ns < self.starts[-1]:
            return time_ns, 0
        rounds = (time_ns - self.starts[self.repeat]) // self._period()
        return time_ns - rounds * self._period(), rounds


def openings(lane: Lane) -> Openings | None:
    """Read a lane's windows; None if it has none, or more pieces than `MOST_PIECES`."""
    if not lane.windows:
        return None
    edges = [w.start_ns if w.end_ns is None else w.end_ns for w in lane.windows if w.period_ns is None]
    period = math.lcm(*(w.period_ns for w in lane.windows if w.period_ns is not None))
    repeats = any(w.period_ns is not None for w in lane.windows)
    settled = max(edges, default=0)
    if repeats:
        settled = -(-settled // period) * period
    end = settled + (period if repeats else 0)
    starts, rates, carried = [0], [], [0]
    while True:
        rate, change = rate_at(lane, starts[-1])
        rates.append(rate)
        if starts[-1] >= end:
            break
        if len(starts) > MOST_PIECES:
            return None
        ahead = end if change is None else min(change, end)
        if repeats and starts[-1] < settled < ahead:
            ahead = settled
        carried.append(carried[-1] + (ahead - starts[-1]) * rate)
        starts.append(ahead)
    repeat = bisect_left(starts, settled) if repeats else None
    return Openings(lane.rate_bps, tuple(starts), tuple(rates), tuple(carried), repeat)


def without_last_closing(lane: Lane) -> Lane:
    """Return the lane as it would be if it never closed for ever."""
    return replace(lane, windows=tuple(w for w in lane.windows if not _for_ever(w.end_ns, w.rate_bps, w.period_ns)))


def closes_for_ever_ns(lane: Lane) -> int | None:
    """When the lane closes for ever by a window without end; None if it does not."""
    return min((w.start_ns for w in lane.windows if _for_ever(w.end_ns, w.rate_bps, w.period_ns)), default=None)


def _for_ever(end_ns: int | None, rate_bps: int, period_ns: int | None) -> bool:
    return end_ns is None and rate_bps == 0 and period_ns is None
