"""Opening hours of lanes as arrays for the kernels: pieces of constant rate, one lane after another.

Rates are whole numbers whose ratios are those of the lane. Where these would be so large that work might leave 64 bits,
they are rounded up to thousandths of the full rate: that makes transfers shorter, so what is refuted stays refuted.
Pieces are listed as far as `MOST_PIECES` go; after the last one the lane is taken to be open for ever at its full rate,
which again only loosens.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.calendar import phase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.problem import IntArray, Lane, Problem

MOST_PIECES = 2_000
"""Pieces of one lane."""

LARGEST_RATE = 2**16
"""Full rate, in parts. Times `LARGEST_TIME` it stays within 64 bits."""

LARGEST_TIME = 2**46
"""Longest transfer, in ticks (of 1 ns: 19 hours)."""

COARSE = 1000

Hours = tuple["IntArray", "IntArray", "IntArray", "IntArray", "IntArray"]
"""Lane of each class (-1 for none with windows), start and rate of each piece, first piece and full rate of each lane.

Starts count in ticks; the first piece of a lane starts at 0.
"""


def slower_somewhere(problem: Problem) -> bool:
    """Whether some lane is slower at times without being closed: then times are no multiples of anything."""
    return any(window.rate_bps for lane in problem.lanes for window in lane.windows)


def edges_ns(problem: Problem) -> list[int]:
    """Edges and periods of all windows."""
    return [
        edge
        for lane in problem.lanes
        for window in lane.windows
        for edge in (window.start_ns, window.end_ns, window.period_ns)
        if edge is not None
    ]


def hours_of(problem: Problem, resources: Sequence[int], tick_ns: int) -> Hours:
    """Lay the hours out for classes on these resources (-1 for none)."""
    starts: list[int] = []
    rates: list[int] = []
    firsts, fulls = [0], []
    place: dict[int, int] = {}
    for number, lane in enumerate(problem.lanes, start=len(problem.devices)):
        if lane.windows and number in resources:
            place[number] = len(fulls)
            pieces = _pieces(lane)
            full, scaled = _whole([lane.rate_bps, *(rate for _, rate in pieces)])
            fulls.append(full)
            starts += [start // tick_ns for start, _ in pieces]
            rates += scaled
            firsts.append(len(starts))
    lanes = [place.get(resource, -1) for resource in resources]
    return _array(lanes), _array(starts), _array(rates), _array(firsts), _array(fulls)


def _pieces(lane: Lane) -> list[tuple[int, int]]:
    """Start and rate of each piece, neighbours of equal rate joined."""
    pieces: list[tuple[int, int]] = []
    now: int | None = 0
    while now is not None:
        if len(pieces) == MOST_PIECES:
            pieces.append((now, lane.rate_bps))
            break
        rate, change = lane.rate_bps, None
        for window in lane.windows:
            inside, edge = phase(window, now)
            if inside:
                rate = min(rate, window.rate_bps)
            if edge is not None and (change is None or edge < change):
                change = edge
        if not pieces or pieces[-1][1] != rate:
            pieces.append((now, rate))
        now = change if len(pieces) <= MOST_PIECES else None
    return pieces


def _whole(rates: list[int]) -> tuple[int, list[int]]:
    """Full rate and those of the pieces in small whole numbers."""
    full, *rest = rates
    common = math.gcd(*rates)
    if full // common <= LARGEST_RATE:
        return full // common, [rate // common for rate in rest]
    return COARSE, [-(-rate * COARSE // full) for rate in rest]


def _array(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)
