"""Carrying windows between extra operations, what they wait for, and the places they share (see `joined.py`)."""

from __future__ import annotations

from itertools import chain as joined_lists
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.certificate.joined import interchangeable
from crosspipe.problem.operations import NO_DEADLINE, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from crosspipe.certificate.chain import Chain
    from crosspipe.certificate.hours import Hours
    from crosspipe.problem.problem import Problem

    IntArray = NDArray[np.int64]

Tie = tuple[int, int, int, int, int]
"""Class, index, class, index, lag: the second starts so long after the end of the first."""


class Ties:
    """The extra operations of one chain, for one target."""

    def __init__(self, problem: Problem, chain: Chain, target: int, hours: Mapping[int, Hours]) -> None:
        self._chain, self._target, self._hours = chain, target, hours
        self._extras = list(chain.extras.values())
        self._place = {extra.number: place for place, extra in enumerate(self._extras)}
        self._due = [target] * len(self._extras)
        if problem.due_ns is not None:
            ends = (int(problem.due_ns[extra.number]) for extra in self._extras)
            self._due = [target if end == NO_DEADLINE else min(end, target) for end in ends]
        self._shared = [c for c, link in enumerate(chain.links) if link.kind is Kind.EXTRA]
        self._ties: list[Tie] = []
        self._settled: list[tuple[int, int, int]] = []
        alike = interchangeable(problem)
        for c in self._shared:
            members = sorted(chain.links[c].members)
            self._ties += self._around(c)
            if len({alike[number] for number in members}) == 1:
                self._settled += [(c, k, self._place[number]) for k, number in enumerate(members)]

    def start(self) -> tuple[IntArray, IntArray]:
        """Earliest and latest starts by deadlines alone."""
        late = [
            self._latest(extra.resource, end, extra.duration)
            for extra, end in zip(self._extras, self._due, strict=True)
        ]
        return np.zeros(len(late), dtype=np.int64), np.array(late, dtype=np.int64)

    def carry(self, r: IntArray, q: IntArray, early: IntArray, late: IntArray) -> bool:
        """Carry all windows once, in place; whether any moved."""
        before = [x.copy() for x in (r, q, early, late)]
        self._forward(r, early)
        self._backward(q, late)
        for c, k, place in self._settled:
            link = self._chain.links[c]
            shared_late = self._latest(link.resource, self._target - int(q[c, k]), link.duration)
            early[place] = max(early[place], r[c, k])
            late[place] = min(late[place], shared_late)
        for c, first, other, second, lag in self._ties:
            start = self._end(c, int(r[c, first])) + lag
            r[other, second] = max(r[other, second], start)
            end = self._begin(other, self._target - int(q[other, second])) - lag
            q[c, first] = max(q[c, first], self._target - end)
        for c in self._shared:
            self._share(c, r, q, early, late)
        return any((old != new).any() for old, new in zip(before, (r, q, early, late), strict=True))

    def _forward(self, r: IntArray, early: IntArray) -> None:
        for place, extra in enumerate(self._extras):
            for c, (count, lag) in extra.waits.items():
                early[place] = max(early[place], self._end(c, int(r[c, count - 1])) + lag)
            start, end = self._passage(extra.resource, int(early[place]), extra.duration)
            early[place] = start
            for other, lag in extra.onward:
                early[self._place[other]] = max(early[self._place[other]], end + lag)
            for c, (count, lag) in extra.feeds.items():
                index = self._chain.links[c].count - count
                r[c, index] = max(r[c, index], end + lag)

    def _backward(self, q: IntArray, late: IntArray) -> None:
        for place in reversed(range(len(self._extras))):
            extra = self._extras[place]
            ends = [int(late[self._place[other]]) - lag for other, lag in extra.onward]
            for c, (count, lag) in extra.feeds.items():
                ends.append(self._begin(c, self._target - int(q[c, self._chain.links[c].count - count])) - lag)
            if ends:
                late[place] = min(late[place], self._latest(extra.resource, min(ends), extra.duration))
            for c, (count, lag) in extra.waits.items():
                q[c, count - 1] = max(q[c, count - 1], self._target - (int(late[place]) - lag))

    def _share(self, c: int, r: IntArray, q: IntArray, early: IntArray, late: IntArray) -> None:
        """Sort the windows of joined operations on to their places."""
        link = self._chain.links[c]
        places = [self._place[number] for number in link.members]
        for k, (first, last) in enumerate(
            zip(sorted(early[places].tolist()), sorted(late[places].tolist()), strict=True)
        ):
            r[c, k] = max(r[c, k], first)
            q[c, k] = max(q[c, k], self._target - self._passage(link.resource, last, link.duration)[1])

    def _around(self, c: int) -> list[Tie]:
        """Tie places to what several of their operations wait for, or are waited for by."""
        link = self._chain.links[c]
        members = [self._chain.extras[number] for number in link.members]
        found: list[Tie] = []
        for other in sorted(set(joined_lists.from_iterable(extra.waits for extra in members))):
            known = [extra.waits[other] for extra in members if other in extra.waits]
            for most in {count for count, _ in known}:
                lags = [lag for count, lag in known if count >= most]
                found.append((other, most - 1, c, link.count - len(lags), min(lags)))
        for other in sorted(set(joined_lists.from_iterable(extra.feeds for extra in members))):
            known = [extra.feeds[other] for extra in members if other in extra.feeds]
            for most in {count for count, _ in known}:
                lags = [lag for count, lag in known if count >= most]
                found.append((c, len(lags) - 1, other, self._chain.links[other].count - most, min(lags)))
        return found

    def _end(self, c: int, ready: int) -> int:
        link = self._chain.links[c]
        return self._passage(link.resource, ready, link.duration)[1]

    def _begin(self, c: int, end: int) -> int:
        link = self._chain.links[c]
        return self._latest(link.resource, end, link.duration)

    def _passage(self, resource: int, ready: int, duration: int) -> tuple[int, int]:
        hours = self._hours.get(resource)
        if hours is None:
            return ready, ready + duration
        start, end = hours.passage(np.array([ready], dtype=np.int64), duration)
        return int(start[0]), int(end[0])

    def _latest(self, resource: int, end: int, duration: int) -> int:
        hours = self._hours.get(resource)
        return end - duration if hours is None else int(hours.latest(np.array([end], dtype=np.int64), duration)[0])
