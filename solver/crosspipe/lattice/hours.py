"""Opening hours of lanes as arrays for the kernels: pieces of constant rate, one lane after another.

Rates are whole numbers whose ratios are those of the lane. Where these would be so large that work might leave 64 bits,
they are rounded up to thousandths of the full rate: that makes transfers shorter, so what is refuted stays refuted.
After the last piece that is listed the lane is taken to be open for ever, which again only loosens.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.pieces import pieces_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem

LARGEST_RATE = 2**16
"""Full rate, in parts. Times `LARGEST_TIME` it stays within 64 bits."""

LARGEST_TIME = 2**46
"""Longest transfer, in ticks (of 1 ns: 19 hours)."""

COARSE = 1000

Hours = tuple["IntArray", "IntArray", "IntArray", "IntArray", "IntArray"]
"""Lane of each class (-1 for none with windows), start and rate of each piece, first piece and full rate of each lane.

Starts count in ticks; the first piece of a lane starts at 0.
"""


def hours_of(problem: Problem, resources: Sequence[int], tick_ns: int) -> Hours:
    """Lay the hours out for classes on these resources (-1 for none)."""
    starts: list[int] = []
    rates: list[int] = []
    firsts: list[int] = [0]
    fulls: list[int] = []
    place: dict[int, int] = {}
    for number, lane in enumerate(problem.lanes, start=len(problem.devices)):
        if lane.windows and number in resources:
            place[number] = len(fulls)
            pieces = pieces_of(lane)
            full, scaled = _whole([lane.rate_bps, *(rate for _, rate in pieces)])
            fulls.append(full)
            starts += [start // tick_ns for start, _ in pieces]
            rates += scaled
            firsts.append(len(starts))
    lanes = [place.get(resource, -1) for resource in resources]
    return _array(lanes), _array(starts), _array(rates), _array(firsts), _array(fulls)


def _whole(rates: list[int]) -> tuple[int, list[int]]:
    """Full rate and those of the pieces in small whole numbers."""
    full, *rest = rates
    common = math.gcd(*rates)
    if full // common <= LARGEST_RATE:
        return full // common, [rate // common for rate in rest]
    return COARSE, [-(-rate * COARSE // full) for rate in rest]


def _array(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)
