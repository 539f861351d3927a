"""Cutting a chain of items into contiguous non-empty stages so that the largest load is as small as it can be.

The load of a stage is its device's time factor x the work of its items. Among the cuts with the smallest largest load
those with the largest smallest load are best, and of equals the earliest cuts are taken. Exact, in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

LARGEST_ITEM_COUNT = 1024
"""Most items that are cut; with a thousand the cut takes seconds."""


def even_split(
    works: Sequence[int], factors: Sequence[Fraction], reaches: Sequence[Sequence[int]] | None = None
) -> tuple[range, ...]:
    """Cut `works` into `len(factors)` runs.

    Parameters
    ----------
    works
        Work of each item, any unit, none negative.
    factors
        Time factor of each stage's device, above zero, one per stage.
    reaches
        For each stage, the end of the longest run that may begin at each item there; left out, there is no limit.

    Returns
    -------
    tuple of range
        Item numbers of each stage.

    Raises
    ------
    ValueError
        If there are fewer items than stages, or no cut keeps within `reaches`.
    """
    if len(works) < len(factors):
        raise ValueError(f"{len(works)} items cannot fill {len(factors)} stages")
    unit = lcm(*(factor.denominator for factor in factors))
    limits = [[len(works)] * len(works)] * len(factors) if reaches is None else reaches
    cutting = _Cutting((0, *accumulate(works)), tuple(int(factor * unit) for factor in factors), limits)
    ends = cutting.best_ends()
    return tuple(range(start, end) for start, end in zip((0, *ends), ends, strict=False))


def given_split(counts: Sequence[int]) -> tuple[range, ...]:
    """Cut a chain into runs of these lengths."""
    ends = tuple(accumulate(counts))
    return tuple(range(start, end) for start, end in zip((0, *ends), ends, strict=False))


@dataclass(frozen=True, slots=True)
class _Cutting:
    """`sums[i]` is the work of the items before i; `factors[j]` that of stage j, `reaches[j]` its longest runs."""

    sums: tuple[int, ...]
    factors: tuple[int, ...]
    reaches: Sequence[Sequence[int]]

    def best_ends(self) -> tuple[int, ...]:
        """Find the item that each stage of the best cut ends before, by bisection of the largest and smallest load."""
        low, high = 0, self.sums[-1] * max(self.factors)
        best = self._earliest(0, high)
        while low < high:
            middle = (low + high) // 2
            found = self._earliest(0, middle)
            best, low, high = (best, middle + 1, high) if found is None else (found, low, middle)
        cap, low = high, 0
        while low < high:
            middle = (low + high + 1) // 2
            found = self._earliest(middle, cap)
            best, low, high = (best, low, middle - 1) if found is None else (found, middle, high)
        if best is None:
            raise ValueError("no cut keeps within its reaches")
        return best

    def _earliest(self, floor: int, cap: int) -> tuple[int, ...] | None:
        """Find the earliest ends of all stages with loads within [floor, cap], None if there are none.

        From the last stage to the first: of the ends from which the rest can be cut, the first that gives a stage
        enough load gives it the least, so that one look at it decides. It only moves on as the start does.
        """
        items, stages = len(self.sums) - 1, len(self.factors)
        ways: list[dict[int, int]] = []
        ends = [items]
        for stage in reversed(range(stages)):
            factor, reach = self.factors[stage], self.reaches[stage]
            way: dict[int, int] = {}
            place = 0
            for start in range(stage, items - (stages - stage) + 1) if stage else (0,):
                here = self.sums[start]
                while place < len(ends) and (ends[place] <= start or (self.sums[ends[place]] - here) * factor < floor):
                    place += 1
                if place == len(ends):
                    break
                end = ends[place]
                if end <= reach[start] and (self.sums[end] - here) * factor <= cap:
                    way[start] = end
            ways.append(way)
            ends = list(way)
        if not ends:
            return None
        start, found = 0, []
        for way in reversed(ways):
            start = way[start]
            found.append(start)
        return tuple(found)
