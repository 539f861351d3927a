"""What each pool holds, by who takes it and who gives it back."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from crosspipe.model.ticks import Ticks


def pool_amounts(ticks: Ticks, pool: int) -> dict[tuple[int, int], int]:
    """Amount by (taker, giver) of a pool's holdings, zero amounts left out."""
    holdings = ticks.problem.holdings
    amounts: dict[tuple[int, int], int] = defaultdict(int)
    rows = np.flatnonzero((holdings.pool == pool) & (ticks.amount > 0))
    for row in rows.tolist():
        amounts[int(holdings.taken_by[row]), int(holdings.given_by[row])] += int(ticks.amount[row])
    return amounts
