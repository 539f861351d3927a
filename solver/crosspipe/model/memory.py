"""A device never holds more than it has: a cumulative over lifetimes.

For every pool at every time t: `base + sum of amount_h over holdings h with start(taker_h) <= t < end(giver_h)
<= capacity`. Giving back at t and taking at t is allowed. Holdings are intervals of variable length from the start of
the taker to the end of the giver; those of the same taker and giver are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.model.amounts import pool_amounts
from crosspipe.model.memory_counts import count_memory, countable
from crosspipe.model.memory_order import order_suffices

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntervalVar

    from crosspipe.model.order_literals import OrderLiterals
    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables


def add_memory(model: CpModel, variables: Variables, ticks: Ticks, literals: OrderLiterals | None = None) -> None:
    """Ensure that no pool is exceeded; those that cannot be, or that precedences alone look after, are left out.

    With `literals` what can be said by counting is (see `memory_counts`).
    """
    for pool, room in enumerate(ticks.room):
        if room is None:
            continue
        if room < 0:
            model.add_bool_or([])
            continue
        if order_suffices(ticks, pool):
            continue
        if literals is not None and countable(ticks, pool):
            count_memory(model, literals, ticks, pool, room)
            continue
        amounts = pool_amounts(ticks, pool)
        intervals = [_lifetime(model, variables, ticks, *pair) for pair in amounts]
        model.add_cumulative(intervals, list(amounts.values()), room)


def _lifetime(model: CpModel, variables: Variables, ticks: Ticks, taker: int, giver: int) -> IntervalVar:
    own = variables.interval[taker]
    if taker == giver and own is not None:
        return own
    if (taker, giver) not in variables.held:
        variables.held[taker, giver] = model.new_int_var(0, ticks.horizon, "")
    return model.new_interval_var(variables.start[taker], variables.held[taker, giver], variables.end[giver], "")
