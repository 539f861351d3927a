"""The checker's own arithmetic of lanes: when a transfer ends, and how long it is under way while its lane is closed.

The rate of a lane is a step function of time. A transfer of duration d at the full rate r, started at t, ends at the
first integer e for which the integral of the rate over [t, e) reaches d * r. All of it is done in Python integers.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.links import Lane, Window


MOST_STEPS = 10**4
"""Steps of a cycle of repeating windows up to which its progress is worked out beforehand."""


@dataclass(frozen=True, slots=True)
class Passage:
    """How a transfer passes its lane.

    Attributes
    ----------
    end_ns
        Its end. Time in which the lane is closed counts as though it were open: the breach is told apart.
    closed_ns
        Time under way while the lane is closed.
    closed_at_ns
        The first such moment, None if there is none.
    """

    end_ns: int
    closed_ns: int = 0
    closed_at_ns: int | None = None


class StepRates:
    """The lowest rate that some windows leave, as steps: `rates[i]` from `edges[i]` to the next edge."""

    def __init__(self, full: int, windows: Sequence[Window], period: int | None) -> None:
        ends = {window.end_ns for window in windows if window.end_ns is not None}
        self.period = period
        self.edges = sorted({0, *(window.start_ns for window in windows), *ends})
        self.rates = [full] * len(self.edges)
        for window in windows:
            for index in range(bisect_right(self.edges, window.start_ns) - 1, len(self.edges)):
                if window.end_ns is not None and self.edges[index] >= window.end_ns:
                    break
                self.rates[index] = min(self.rates[index], window.rate_bps)

    def at(self, time_ns: int) -> tuple[int, int | None]:
        """Give the rate at a moment (0 or later) and when it may change next, None for never."""
        base = 0 if self.period is None else time_ns // self.period * self.period
        index = bisect_right(self.edges, time_ns - base) - 1
        if index + 1 < len(self.edges):
            return self.rates[index], base + self.edges[index + 1]
        return self.rates[index], None if self.period is None else base + self.period


class LaneRates:
    """The rate of one lane over all time: its windows, one-time and repeating, laid over each other."""

    def __init__(self, lane: Lane) -> None:
        self.full = lane.rate_bps
        periods = sorted({window.period_ns for window in lane.windows if window.period_ns is not None})
        once = [window for window in lane.windows if window.period_ns is None]
        self._once = StepRates(self.full, once, None)
        self._repeating = [
            StepRates(self.full, [window for window in lane.windows if window.period_ns == period], period)
            for period in periods
        ]
        self._cycle = lcm(*periods) if periods else 0
        self._steps = sum(len(steps.edges) * self._cycle // (steps.period or 1) for steps in self._repeating)
        self._each: dict[int, int] = {}

    def at(self, time_ns: int) -> tuple[int, int | None]:
        """Give the rate at a moment and when it may change next, None for never. Before 0 no window applies."""
        if time_ns < 0:
            return self.full, 0
        rate, until = self._once.at(time_ns)
        other, change = self._repeating_at(time_ns)
        return min(rate, other), _sooner(until, change)

    def _repeating_at(self, time_ns: int) -> tuple[int, int | None]:
        rate, until = self.full, None
        for steps in self._repeating:
            other, change = steps.at(time_ns)
            rate = min(rate, other)
            until = _sooner(until, change)
        return rate, until

    def passage(self, start_ns: int, duration_ns: int) -> Passage:
        """Follow a transfer from its start to its end; one of no duration is never under way."""
        need, now = duration_ns * self.full, start_ns
        closed_ns, closed_at = 0, None
        while need > 0:
            if room := self._room(now, need):
                progress, closed, first = self._over(now, now + self._cycle)
                rounds = min(room, (need - 1) // progress)
                now += rounds * self._cycle
                need -= rounds * progress
            else:
                rate, until = self.at(now)
                speed = rate or self.full
                step = -(-need // speed)
                if until is not None:
                    step = min(step, until - now)
                rounds, closed, first = 1, 0 if rate else step, None if rate else now
                now += step
                need -= step * speed
            closed_ns += rounds * closed
            closed_at = first if closed_at is None else closed_at
        return Passage(now, closed_ns, closed_at)

    def _room(self, now: int, need: int) -> int:
        """Count the whole cycles of the repeating windows before the next one-time edge, at most `need` of them.

        0 where cycles cannot be skipped, or `need` might be done within one.
        """
        if not self._cycle or now < 0:
            return 0
        rate, edge = self._once.at(now)
        if need <= self.full * self._cycle and (self._steps > MOST_STEPS or need <= self._in_a_cycle(rate)):
            return 0
        return need if edge is None else (edge - now) // self._cycle

    def _in_a_cycle(self, limit: int) -> int:
        """Give the progress of a cycle while the one-time windows leave a rate of `limit`."""
        if limit not in self._each:
            progress, now = 0, 0
            while now < self._cycle:
                rate, until = self._repeating_at(now)
                step = self._cycle - now if until is None else min(until, self._cycle) - now
                progress += step * (min(rate, limit) or self.full)
                now += step
            self._each[limit] = progress
        return self._each[limit]

    def _over(self, start_ns: int, end_ns: int) -> tuple[int, int, int | None]:
        """Give progress, closed time and first closed moment over an interval."""
        progress, closed_ns, closed_at = 0, 0, None
        now = start_ns
        while now < end_ns:
            rate, until = self.at(now)
            step = end_ns - now if until is None else min(until, end_ns) - now
            progress += step * (rate or self.full)
            if rate == 0:
                closed_ns += step
                closed_at = now if closed_at is None else closed_at
            now += step
        return progress, closed_ns, closed_at


def _sooner(one: int | None, other: int | None) -> int | None:
    """Give the earlier of two moments, None standing for never."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
