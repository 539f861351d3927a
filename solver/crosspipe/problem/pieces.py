"""A lane's windows as pieces of constant rate, and the latest start that ends in time."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from crosspipe.problem.calendar import phase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.links import Lane

Piece = tuple[int, int]
"""Start in ns and rate in bits per second; a piece lasts until the next one begins, the last for ever."""

MOST_PIECES = 2_000
"""Changes of one lane that are followed; after the last one it is taken to be open for ever at its full rate."""


def pieces_of(lane: Lane) -> list[Piece]:
    """List the pieces from time 0 on, neighbours of equal rate joined."""
    pieces: list[Piece] = []
    now = 0
    for _ in range(MOST_PIECES):
        rate, change = rate_at(lane, now)
        if not pieces or pieces[-1][1] != rate:
            pieces.append((now, rate))
        if change is None:
            return pieces
        now = change
    return [*pieces, (now, lane.rate_bps)]


def rate_at(lane: Lane, now_ns: int) -> tuple[int, int | None]:
    """Rate at a time, and the next time at which it may change; None if it never does."""
    rate, change = lane.rate_bps, None
    for window in lane.windows:
        inside, edge = phase(window, now_ns)
        if inside:
            rate = min(rate, window.rate_bps)
        if edge is not None and (change is None or edge < change):
            change = edge
    return rate, change


def latest_start_ns(pieces: Sequence[Piece], full_bps: int, end_ns: int, duration_ns: int) -> int | None:
    """Find the latest start of a transfer that has ended by `end_ns`; None if there is none from 0 on."""
    if duration_ns == 0:
        return end_ns
    now, left = end_ns, duration_ns * full_bps
    for place in range(bisect_left(pieces, (end_ns,)) - 1, -1, -1):
        start, rate = pieces[place]
        if rate == 0:
            now, left = start, duration_ns * full_bps
            continue
        needed = -(-left // rate)
        if needed <= now - start:
            return now - needed
        left -= rate * (now - start)
        now = start
    return None
