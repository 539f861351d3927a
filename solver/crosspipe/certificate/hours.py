"""When transfers can start and end on a lane with windows, for many times at once.

`carried(t)` is the integral of the rate up to t, in parts that make all rates whole numbers. In an opening, a stretch
without closed moments, a transfer of work w that starts at s ends at the first e with `carried(e) >= carried(s) + w`;
it must end within the opening. So the earliest start from t on is in the first opening that has w left, the latest one
that ends by t in the last.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.certificate.rates import Rates
from crosspipe.certificate.verdict import RefusedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.certificate.verdict import Budget
    from crosspipe.problem.links import Lane

    IntArray = NDArray[np.int64]

NEVER, FAR = -(2**61), 2**61
MOST_PIECES = 10**5
LARGEST = 2**61
PARTS = 1000
"""Where work would leave 64 bits, rates are rounded up to such parts of the full rate: transfers get shorter."""


class Hours:
    """One lane up to a horizon; what begins later is not told apart from what never begins."""

    def __init__(self, lane: Lane, horizon: int, budget: Budget) -> None:
        rates = Rates(lane, budget)
        edges, rate = [0], []
        now: int | None = 0
        while now is not None and edges[-1] <= horizon:
            if len(edges) > MOST_PIECES:
                raise RefusedError(f"a lane has more than {MOST_PIECES} pieces of one rate")
            each, now = rates.at(edges[-1])
            rate.append(each)
            edges.append(horizon + 1 if now is None else min(now, horizon + 1))
        common = math.gcd(rates.full, *rate)
        self._full, rate = rates.full // common, [each // common for each in rate]
        if self._full * edges[-1] >= LARGEST:
            self._full, rate = PARTS, [-(-each * PARTS // self._full) for each in rate]
        if self._full * edges[-1] >= LARGEST:
            raise RefusedError("the target is too large to count with on a lane with windows")
        carried = [0]
        for (start, end), each in zip(pairwise(edges), rate, strict=True):
            carried.append(carried[-1] + each * (end - start))
        opened = [k for k, each in enumerate(rate) if each and (k == 0 or not rate[k - 1])]
        closed = [k + 1 for k, each in enumerate(rate) if each and (k + 1 == len(rate) or not rate[k + 1])]
        self._edges, self._carried, self._rate = (np.array(x, dtype=np.int64) for x in (edges, carried, [*rate, 0]))
        self._opens, self._closes = self._edges[opened], self._edges[closed]
        self._room = self._carried[closed] - self._carried[opened]
        self._known: dict[int, tuple[IntArray, IntArray]] = {}

    def passage(self, ready: IntArray, duration: int) -> tuple[IntArray, IntArray]:
        """Earliest start from `ready` on, and its end; FAR where there is none."""
        if duration == 0:
            return ready, ready
        if not len(self._opens):
            return np.full_like(ready, FAR), np.full_like(ready, FAR)
        work, (onward, _) = duration * self._full, self._neighbours(duration)
        place = np.searchsorted(self._closes, ready, side="right")
        known = place < len(self._opens)
        here = np.where(known, place, 0)
        start = np.maximum(ready, self._opens[here])
        enough = known & (self._at(np.minimum(start, self._edges[-1])) + work <= self._at(self._closes[here]))
        after = onward[place]
        found = enough | (after < len(self._opens))
        later = self._opens[np.where(after < len(self._opens), after, 0)]
        start = np.where(enough, start, later)
        wanted = self._at(np.where(found, start, 0)) + work
        piece = np.clip(np.searchsorted(self._carried, wanted, side="left") - 1, 0, len(self._rate) - 2)
        rate = np.maximum(self._rate[piece], 1)
        end = self._edges[piece] - (self._carried[piece] - wanted) // rate
        return np.where(found, start, FAR), np.where(found, end, FAR)

    def latest(self, end: IntArray, duration: int) -> IntArray:
        """Latest start from 0 on that has ended by `end`; NEVER where there is none."""
        if duration == 0:
            return end
        if not len(self._opens):
            return np.full_like(end, NEVER)
        work, (_, back) = duration * self._full, self._neighbours(duration)
        end = np.minimum(end, self._edges[-1])
        place = np.searchsorted(self._opens, end, side="left") - 1
        here = np.maximum(place, 0)
        limit = self._at(np.maximum(np.minimum(end, self._closes[here]), 0)) - work
        enough = (place >= 0) & (limit >= self._at(self._opens[here]))
        before = np.where(place >= 0, back[here], -1)
        found = enough | (before >= 0)
        limit = np.where(enough, limit, self._at(self._closes[np.maximum(before, 0)]) - work)
        piece = np.clip(np.searchsorted(self._carried, limit, side="right") - 1, 0, len(self._rate) - 2)
        start = self._edges[piece] + (limit - self._carried[piece]) // np.maximum(self._rate[piece], 1)
        return np.where(found, start, NEVER)

    def _at(self, time: IntArray) -> IntArray:
        piece = np.minimum(np.searchsorted(self._edges, time, side="right") - 1, len(self._rate) - 1)
        carried: IntArray = self._carried[piece] + self._rate[piece] * (time - self._edges[piece])
        return carried

    def _neighbours(self, duration: int) -> tuple[IntArray, IntArray]:
        """By opening the next and the last one with room for so much; none are told by the ends of the list."""
        if duration not in self._known:
            count = len(self._opens)
            wide = self._room >= duration * self._full
            onward, back = np.full(count + 1, count, dtype=np.int64), np.full(max(count, 1), -1, dtype=np.int64)
            for place in range(count - 2, -1, -1):
                onward[place] = place + 1 if wide[place + 1] else onward[place + 1]
            for place in range(1, count):
                back[place] = place - 1 if wide[place - 1] else back[place - 1]
            self._known[duration] = onward, back
        return self._known[duration]
