"""A device never holds more than it has: a cumulative over lifetimes.

For every pool at every time t: `base + sum of amount_h over holdings h with start(taker_h) <= t < end(giver_h)
<= capacity`. Giving back at t and taking at t is allowed. Holdings are intervals of variable length from the start of
the taker to the end of the giver; those of the same taker and giver are one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.model.memory_order import order_suffices

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntervalVar

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables


def add_memory(model: CpModel, variables: Variables, ticks: Ticks) -> None:
    """Ensure that no pool is exceeded; those that cannot be, or that precedences alone look after, are left out."""
    for pool, room in enumerate(ticks.room):
        if room is None:
            continue
        if room < 0:
            model.add_bool_or([])
            continue
        if order_suffices(ticks, pool):
            continue
        amounts = pool_amounts(ticks, pool)
        intervals = [_lifetime(model, variables, ticks, *pair) for pair in amounts]
        model.add_cumulative(intervals, list(amounts.values()), room)


def pool_amounts(ticks: Ticks, pool: int) -> dict[tuple[int, int], int]:
    """Amount by (taker, giver) of a pool's holdings, zero amounts left out."""
    holdings = ticks.problem.holdings
    amounts: dict[tuple[int, int], int] = defaultdict(int)
    rows = np.flatnonzero((holdings.pool == pool) & (ticks.amount > 0))
    for row in rows.tolist():
        amounts[int(holdings.taken_by[row]), int(holdings.given_by[row])] += int(ticks.amount[row])
    return amounts


def _lifetime(model: CpModel, variables: Variables, ticks: Ticks, taker: int, giver: int) -> IntervalVar:
    own = variables.interval[taker]
    if taker == giver and own is not None:
        return own
    if (taker, giver) not in variables.held:
        variables.held[taker, giver] = model.new_int_var(0, ticks.horizon, "")
    return model.new_interval_var(variables.start[taker], variables.held[taker, giver], variables.end[giver], "")
