"""When a lane can carry a transfer: earliest start and exact end under closed and slower windows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.problem.problem import Lane, Window

MOST_TRIES = 10**5
"""Openings tried before a lane whose windows have several periods is taken to never fit a transfer."""


class LaneCalendar:
    """The open hours and rates of one lane.

    A transfer of duration d (at full rate) that starts at t ends at the first integer e with
    `integral of rate over [t, e) >= d * full rate`, and may not be in progress at any moment at which the rate is 0.
    """

    def __init__(self, lane: Lane) -> None:
        self._full = lane.rate_bps
        self._windows = lane.windows
        self.always_open = not lane.windows
        singles = [w for w in lane.windows if w.period_ns is None]
        periods = [w.period_ns for w in lane.windows if w.period_ns is not None]
        self._settled_ns = max((w.start_ns if w.end_ns is None else w.end_ns for w in singles), default=0)
        self._round_ns = math.lcm(*periods) if periods else 0

    def start(self, ready_ns: int, duration_ns: int) -> int | None:
        """Find the earliest start at or after `ready_ns`; None if the lane never opens for long enough.

        A transfer may end where a closed window starts and begin where one ends.
        """
        if self.always_open or duration_ns == 0:
            return ready_ns
        start = ready_ns
        # Past the last single window all repeats: one round of all periods shows everything there is to see.
        last = max(ready_ns, self._settled_ns) + self._round_ns
        for _ in range(MOST_TRIES):
            blocked_ns = self._blocked_ns(start, duration_ns)
            if blocked_ns is None:
                return start
            opening = self._opening_ns(blocked_ns, last)
            if opening is None:
                return None
            start = opening
        return None

    def end(self, start_ns: int, duration_ns: int) -> int:
        """Find the end of a transfer that starts at `start_ns`, a time that `start` allowed.

        Raises
        ------
        ValueError
            If the lane closes while the transfer is in progress.
        """
        if self.always_open:
            return start_ns + duration_ns
        left, now = duration_ns * self._full, start_ns
        while left > 0:
            rate, change = self._rate(now)
            if rate == 0:
                raise ValueError(f"the lane is closed at {now} ns")
            if change is None or left <= rate * (change - now):
                return now - (-left // rate)
            left -= rate * (change - now)
            now = change
        return now

    def _blocked_ns(self, start_ns: int, duration_ns: int) -> int | None:
        """First moment at which a transfer begun at `start_ns` would meet a closed lane, None if it meets none."""
        left, now = duration_ns * self._full, start_ns
        while left > 0:
            rate, change = self._rate(now)
            if rate == 0:
                return now
            if change is None:
                return None
            left -= rate * (change - now)
            now = change
        return None

    def _opening_ns(self, closed_ns: int, last_ns: int) -> int | None:
        """First moment after `closed_ns`, up to `last_ns`, at which the lane is open; None if there is none."""
        now = closed_ns
        while now <= last_ns:
            rate, change = self._rate(now)
            if rate > 0:
                return now
            if change is None:
                return None
            now = change
        return None

    def _rate(self, now_ns: int) -> tuple[int, int | None]:
        """Rate at `now_ns` and the next moment at which it may change (None = never)."""
        rate, change = self._full, None
        for window in self._windows:
            inside, edge = phase(window, now_ns)
            if inside:
                rate = min(rate, window.rate_bps)
            if edge is not None and (change is None or edge < change):
                change = edge
        return rate, change


def phase(window: Window, now_ns: int) -> tuple[bool, int | None]:
    """Tell whether `now_ns` lies in the window, and the window's next edge after it (None = no more)."""
    start, end = window.start_ns, window.end_ns
    if window.period_ns is not None:
        base = now_ns - now_ns % window.period_ns
        if now_ns >= base + (end if end is not None else window.period_ns):
            return False, base + window.period_ns + start
        start, end = base + start, None if end is None else base + end
    if now_ns < start:
        return False, start
    return (True, end) if end is None or now_ns < end else (False, None)
