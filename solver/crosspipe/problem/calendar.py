"""When a lane can carry a transfer: earliest start and exact end under closed and slower windows."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.problem.links import Lane, Window

MOST_TRIES = 10**5
"""Openings tried before a lane whose windows have several periods is taken to never fit a transfer."""

MOST_EDGES = 10**4
"""Edges in a round of all periods up to which whole rounds of a long transfer are passed at once."""


class LaneCalendar:
    """The open hours and rates of one lane.

    A transfer of duration d (at full rate) that starts at t ends at the first integer e with
    `integral of rate over [t, e) >= d * full rate`, and may not be in progress at any moment at which the rate is 0.
    """

    def __init__(self, lane: Lane) -> None:
        self._full = lane.rate_bps
        self._windows = lane.windows
        self.always_open = not lane.windows
        self._singles = [w for w in lane.windows if w.period_ns is None]
        periods = [w.period_ns for w in lane.windows if w.period_ns is not None]
        edges = [edge for w in self._singles for edge in (w.start_ns, w.end_ns) if edge is not None]
        self._settled_ns = max(edges, default=0)
        self._edges = sorted(edges)
        self._round_ns = math.lcm(*periods) if periods else 0
        self._skips = bool(periods) and sum(2 * self._round_ns // period for period in periods) <= MOST_EDGES
        self._progress: dict[int, int] = {}
        # What fits nowhere beside the windows of one period never fits; a round of all may be too long to look through.
        self._parts = [LaneCalendar(part) for part in by_period(lane)] if len(set(periods)) > 1 else []

    def start(self, ready_ns: int, duration_ns: int) -> int | None:
        """Find the earliest start at or after `ready_ns`; None if the lane never opens for long enough.

        A transfer may end where a closed window starts and begin where one ends.
        """
        if self.always_open or duration_ns == 0:
            return ready_ns
        if any(part.start(0, duration_ns) is None for part in self._parts):
            return None
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
            now, left = self._past_rounds(now, left)
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
            now, left = self._past_rounds(now, left)
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

    def _past_rounds(self, now_ns: int, left: int) -> tuple[int, int]:
        """Pass whole rounds of the repeating windows, as many as leave something to do and meet no other edge."""
        if not self._skips:
            return now_ns, left
        limit = min((w.rate_bps for w in self._singles if phase(w, now_ns)[0]), default=self._full)
        progress = self._progress_of_round(limit)
        if progress == 0 or left <= progress:
            return now_ns, left
        rounds = (left - 1) // progress
        place = bisect_right(self._edges, now_ns)
        if place < len(self._edges):
            rounds = min(rounds, (self._edges[place] - now_ns) // self._round_ns)
        return now_ns + rounds * self._round_ns, left - rounds * progress

    def _progress_of_round(self, limit: int) -> int:
        """Work done in a round while no single window allows more than `limit`; 0 if the lane is closed at times."""
        if limit not in self._progress:
            done, now = 0, self._settled_ns
            while now < self._settled_ns + self._round_ns:
                rate, change = self._rate(now, repeating=True)
                if rate == 0:
                    done = 0
                    break
                ahead = self._settled_ns + self._round_ns
                ahead = ahead if change is None else min(change, ahead)
                done += min(rate, limit) * (ahead - now)
                now = ahead
            self._progress[limit] = done
        return self._progress[limit]

    def _rate(self, now_ns: int, *, repeating: bool = False) -> tuple[int, int | None]:
        """Rate at `now_ns` and a later moment up to which it holds (None = for ever), `repeating` windows alone or all.

        Where the lane is closed that is the end of the last window that closes it now.
        """
        rate, change, closed = self._full, None, now_ns
        for window in self._windows:
            if repeating and window.period_ns is None:
                continue
            inside, edge = phase(window, now_ns)
            if inside:
                rate = min(rate, window.rate_bps)
                if window.rate_bps == 0:
                    if edge is None:
                        return 0, None
                    closed = max(closed, edge)
            if edge is not None and (change is None or edge < change):
                change = edge
        return rate, closed if rate == 0 else change


def by_period(lane: Lane) -> list[Lane]:
    """Give the lane as it would be with the windows of each of its periods alone."""
    periods = sorted({w.period_ns for w in lane.windows if w.period_ns is not None})
    return [replace(lane, windows=tuple(w for w in lane.windows if w.period_ns == period)) for period in periods]


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
