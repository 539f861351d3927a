"""Jackson's preemptive bound for one machine: release times, work, tails.

Preempting at will, always running the released operation with the largest tail minimises the largest `end + tail` (J.
R. Jackson 1955; J. Carlier, European Journal of Operational Research 11, 1982). It equals the largest, over sets of
operations, of `least head + total work + least tail`; the set that attains it is `head at least t, tail at least q`.
On a lane with windows the work is done in what the openings carry: the machine's clock is the work carried so far, the
same for every rule of priority, so the same rule stays best and the value is read off where that clock reaches the
work.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.bounds.openings import Openings


@dataclass(frozen=True, slots=True)
class OneMachine:
    """The value and the set that attains it: operations with a head and a tail of at least these, `work_ns` in all."""

    value_ns: int
    head_ns: int
    work_ns: int
    tail_ns: int


def preemptive(
    heads: Sequence[int], durations: Sequence[int], tails: Sequence[int], opened: Openings | None = None
) -> OneMachine | None:
    """Least `largest end + tail` with preemption; None without operations or if the lane never carries them all."""
    scale = 1 if opened is None else opened.full
    ready = list(heads) if opened is None else [opened.work_by(head) for head in heads]
    order = sorted(range(len(ready)), key=ready.__getitem__)
    left = [duration * scale for duration in durations]
    waiting: list[tuple[int, int]] = []
    best: tuple[int, int] | None = None
    now = nearest = 0
    while nearest < len(order) or waiting:
        if not waiting:
            now = max(now, ready[order[nearest]])
        while nearest < len(order) and ready[order[nearest]] <= now:
            heapq.heappush(waiting, (-tails[order[nearest]], order[nearest]))
            nearest += 1
        job = waiting[0][1]
        until = ready[order[nearest]] if nearest < len(order) else now + left[job]
        if now + left[job] > until:
            left[job] -= until - now
            now = until
            continue
        heapq.heappop(waiting)
        now += left[job]
        end = now if opened is None else opened.time_of(now)
        if end is None:
            return None
        # Work of no length ends when it is released, which the clock of a closed lane does not show.
        value = max(end, heads[job]) + tails[job]
        if best is None or value > best[0]:
            best = value, tails[job]
    return None if best is None else _attained(best, heads, durations, tails, opened)


def _attained(
    best: tuple[int, int],
    heads: Sequence[int],
    durations: Sequence[int],
    tails: Sequence[int],
    opened: Openings | None,
) -> OneMachine:
    """Find the set: among operations with a tail as large as the last one's, the release from which on work adds up."""
    value, tail = best
    work, found = 0, OneMachine(value, 0, 0, tail)
    members = sorted((i for i in range(len(heads)) if tails[i] >= tail), key=lambda i: -heads[i])
    for k, i in enumerate(members):
        work += durations[i]
        if k + 1 < len(members) and heads[members[k + 1]] == heads[i]:
            continue
        if from_head(heads[i], work, opened) == value - tail:
            found = OneMachine(value, heads[i], work, tail)
    return found


def from_head(head_ns: int, work_ns: int, opened: Openings | None) -> int | None:
    """First time by which a machine that starts at `head_ns` can have done `work_ns`; None = never."""
    if opened is None or work_ns == 0:
        return head_ns + work_ns
    return opened.time_of(opened.work_by(head_ns) + work_ns * opened.full)
