"""A device never holds more than it has, said by counting: one sum of order literals per operation that takes.

What a pool holds grows only when an operation that takes starts. On a device, which runs one operation at a time, a
holding from u to w is held when v starts if u is v or goes before it, and w does not go before v. So

    sum over holdings h of amount_h * (before(taker_h, v) - before(giver_h, v)) <= capacity - base

for every taker v, with before(v, v) = 1 for what v itself takes, says exactly that no pool is exceeded, provided that
takers and givers all run on the device of the pool and none of them is empty. The cumulative over lifetimes says the
same (`memory.py`) but propagates far less: lifetimes have variable length, so it sees little before all is decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.model.amounts import pool_amounts

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import BoolVarT, CpModel

    from crosspipe.model.order_literals import OrderLiterals
    from crosspipe.model.ticks import Ticks


def countable(ticks: Ticks, pool: int) -> bool:
    """Whether all that takes from a pool or gives back to it runs on its device and takes time."""
    numbers = np.array(list(pool_amounts(ticks, pool)), dtype=np.int64).reshape(-1)
    on_device = ticks.problem.operations.resource[numbers] == ticks.problem.pools[pool].device
    return bool(np.all(on_device & (ticks.duration[numbers] > 0)))


def count_memory(model: CpModel, literals: OrderLiterals, ticks: Ticks, pool: int, room: int) -> None:
    """Ensure that a countable pool never holds more than `room` beside its base."""
    amounts = pool_amounts(ticks, pool)
    for operation in sorted({taker for taker, _ in amounts}):
        held = 0
        factors: list[int] = []
        chosen: list[BoolVarT] = []
        for (taker, giver), amount in amounts.items():
            if taker == giver:
                held += amount if taker == operation else 0
                continue
            taken = taker == operation or literals.before(taker, operation)
            given = giver != operation and literals.before(giver, operation)
            for literal, factor in ((taken, amount), (given, -amount)):
                if isinstance(literal, bool):
                    held += factor if literal else 0
                else:
                    factors.append(factor)
                    chosen.append(literal)
        if held + sum(factor for factor in factors if factor > 0) > room:
            model.add(sum(f * literal for f, literal in zip(factors, chosen, strict=True)) <= room - held)
