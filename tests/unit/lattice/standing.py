"""The bound of count states alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.lattice.fixpoint import Tables


def least_standing(tables: Tables, low: int, high: int) -> int:
    """Smallest target from `low` to `high` that is not refuted, by bisection; `high` is taken to stand.

    Every refuted target proves that no schedule is as short, so the result is a lower bound.
    """
    while low < high:
        middle = (low + high) // 2
        if tables.stands(middle) is None:
            low = middle + 1
        else:
            high = middle
    return low
