"""Cutting a chain of items into contiguous non-empty stages so that the largest load is as small as it can be.

The load of a stage is its device's time factor x the work of its items. Among the cuts with the smallest largest load
the one with the largest smallest load is taken, among these the one with the least sum of squares, and of equals the
earlier cut. Exact, in integers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction


LARGEST_ITEM_COUNT = 2048
"""Most items that are cut: the time taken is quadratic in them at worst."""


def even_split(works: Sequence[int], factors: Sequence[Fraction]) -> tuple[range, ...]:
    """Cut `works` into `len(factors)` runs.

    Parameters
    ----------
    works
        Work of each item, any unit, none negative.
    factors
        Time factor of each stage's device, above zero, one per stage.

    Returns
    -------
    tuple of range
        Item numbers of each stage.

    Raises
    ------
    ValueError
        If there are fewer items than stages.
    """
    if len(works) < len(factors):
        raise ValueError(f"{len(works)} items cannot fill {len(factors)} stages")
    unit = lcm(*(factor.denominator for factor in factors))
    cutting = _Cutting((0, *accumulate(works)), tuple(int(factor * unit) for factor in factors))
    cap = cutting.smallest_cap()
    floor = -cutting.best(cap, 0, lambda load: -load, max)[0]
    _, cuts = cutting.best(cap, floor, lambda load: load * load, lambda head, tail: head + tail)
    return tuple(range(a, b) for a, b in zip((0, *cuts), (*cuts, len(works)), strict=True))


@dataclass(frozen=True, slots=True)
class _Cutting:
    """`sums[i]` is the work of the items before i; `factors[j]` that of stage j."""

    sums: tuple[int, ...]
    factors: tuple[int, ...]

    @property
    def items(self) -> int:
        return len(self.sums) - 1

    def smallest_cap(self) -> int:
        """Find the smallest load that no stage needs to exceed, by bisection."""
        low, high = 0, self.sums[-1] * max(self.factors)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fills(middle) is not None else (middle + 1, high)
        return low

    def _fills(self, cap: int) -> tuple[int, ...] | None:
        """Give each stage as many items as the cap allows; return where each ends at the latest, None if it fails.

        Taking more never hurts the stages behind, as long as one item is left for each of them.
        """
        ends: list[int] = []
        start = 0
        for stage, factor in enumerate(self.factors):
            end = bisect_right(self.sums, self.sums[start] + cap // factor) - 1
            end = min(end, self.items - (len(self.factors) - stage - 1))
            if end <= start:
                return None
            ends.append(end)
            start = end
        return tuple(ends) if start == self.items else None

    def best(
        self, cap: int, floor: int, cost: Callable[[int], int], join: Callable[[int, int], int]
    ) -> tuple[int, tuple[int, ...]]:
        """Find the cuts with loads within [floor, cap] whose joined costs are least, and of equals the earliest.

        A dynamic programme from the last stage to the first over the item a stage starts at. `join` must never fall
        when either side rises.
        """
        latest = self._fills(cap)
        if latest is None:
            raise ValueError("no cut has loads within the cap")
        tails: list[dict[int, tuple[int, int]]] = [{} for _ in self.factors]
        for stage in reversed(range(len(self.factors))):
            factor = self.factors[stage]
            first, last = (stage, latest[stage - 1]) if stage else (0, 0)
            for start in range(first, last + 1):
                found = self._best_end(stage, start, latest[stage], (cap, floor, factor), tails, cost, join)
                if found is not None:
                    tails[stage][start] = found
        total, start = tails[0][0][0], 0
        cuts: list[int] = []
        for stage in range(len(self.factors) - 1):
            start = tails[stage][start][1]
            cuts.append(start)
        return total, tuple(cuts)

    def _best_end(
        self,
        stage: int,
        start: int,
        latest: int,
        limits: tuple[int, int, int],
        tails: list[dict[int, tuple[int, int]]],
        cost: Callable[[int], int],
        join: Callable[[int, int], int],
    ) -> tuple[int, int] | None:
        cap, floor, factor = limits
        here = self.sums[start]
        last_stage = stage == len(self.factors) - 1
        begin = self.items if last_stage else max(start + 1, bisect_left(self.sums, here + -(-floor // factor)))
        best: tuple[int, int] | None = None
        for end in range(begin, latest + 1):
            load = (self.sums[end] - here) * factor
            if load > cap or load < floor or end <= start:
                if load > cap:
                    break
                continue
            if last_stage:
                value = cost(load)
            elif end in tails[stage + 1]:
                value = join(cost(load), tails[stage + 1][end][0])
            else:
                continue
            if best is None or value < best[0]:
                best = (value, end)
        return best
