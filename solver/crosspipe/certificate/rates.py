"""When a lane with windows carries what: own arithmetic, in Python integers.

The rate is a step function of time, the lowest of the lane's own and that of every window it lies in. A transfer of
`d` ns at the full rate that starts at t ends at the first integer e with `integral of rate over [t, e) >= d * full`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crosspipe.certificate.verdict import PYTHON_STEP

if TYPE_CHECKING:
    from crosspipe.certificate.verdict import Budget
    from crosspipe.problem.links import Lane

MOST_PIECES = 10**5
"""Pieces of one rate followed for one transfer; beyond, the lane counts as open, which derives less and no more."""


class Rates:
    """The rate of one lane over time."""

    def __init__(self, lane: Lane, budget: Budget) -> None:
        self.full, self._windows, self._budget = lane.rate_bps, lane.windows, budget
        once = [window for window in lane.windows if window.period_ns is None]
        self._settled = max((w.start_ns if w.end_ns is None else w.end_ns for w in once), default=0)
        self._cycle = math.lcm(*(w.period_ns for w in lane.windows if w.period_ns is not None))

    def at(self, now: int) -> tuple[int, int | None]:
        """Rate at a time, and when it may next change; None for never."""
        rate, until = self.full, None
        for window in self._windows:
            base = 0 if window.period_ns is None else now - now % window.period_ns
            edges = [base + window.start_ns]
            if window.end_ns is not None:
                edges.append(base + window.end_ns)
            if window.period_ns is not None:
                edges += [base + window.period_ns, base + window.period_ns + window.start_ns]
            if window.start_ns <= now - base and (window.end_ns is None or now - base < window.end_ns):
                rate = min(rate, window.rate_bps)
            change = min((edge for edge in edges if edge > now), default=None)
            if change is not None and (until is None or change < until):
                until = change
        return rate, until

    def passage(self, ready: int, duration: int) -> tuple[int, int]:
        """Earliest start at or after `ready` and end of a transfer that may never meet a closed lane.

        Without any opening, or one too far to look for, the lane counts as open throughout.
        """
        start = now = ready
        need = duration * self.full
        last = max(ready, self._settled) + 2 * self._cycle
        for _ in range(MOST_PIECES if duration else 0):
            self._budget.spend(PYTHON_STEP)
            rate, until = self.at(now)
            if rate == 0:
                if until is None or until > last:
                    break
                start = now = until
                need = duration * self.full
            elif until is None or need <= rate * (until - now):
                return start, now - (-need // rate)
            else:
                need -= rate * (until - now)
                now = until
        return ready, ready + duration

    def done(self, start: int, duration: int) -> int | None:
        """First time by which the lane can have carried `duration` ns of full-rate work from `start` on.

        None if that is not found: never, or beyond `MOST_PIECES`.
        """
        now, need = start, duration * self.full
        for _ in range(MOST_PIECES):
            if need <= 0:
                return now
            self._budget.spend(PYTHON_STEP)
            if now >= self._settled and need > self._cycle * self.full > 0:
                gained = self._carried(now, now + self._cycle)
                if gained == 0:
                    return None
                rounds = (need - 1) // gained
                now, need = now + rounds * self._cycle, need - rounds * gained
            rate, until = self.at(now)
            if until is None or need <= rate * (until - now):
                return None if rate == 0 else now - (-need // rate)
            need -= rate * (until - now)
            now = until
        return None

    def _carried(self, now: int, end: int) -> int:
        """Integral of the rate over [now, end)."""
        work = 0
        while now < end:
            self._budget.spend(PYTHON_STEP)
            rate, until = self.at(now)
            ahead = end if until is None else min(until, end)
            work += rate * (ahead - now)
            now = ahead
        return work
