"""The best bound to be had in a moment, without any schedule."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crosspipe.bounds.best import Bound, lower_bound
from crosspipe.lattice.cache import is_warm
from crosspipe.lattice.machines import lattice_of
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.lattice.fixpoint import Tables
    from crosspipe.problem.problem import Problem

STATES_PER_S = 500_000
"""Count states that are worth listing for every second there is."""

PARTS = 64
"""The first step above the bound at hand is this part of it; each next one is twice as long."""


def quick_bound(problem: Problem, objective: Objective, time_limit_s: float) -> Bound:
    """Bound a problem by every closed argument, then raise it by count states while there is time.

    Without compiled kernels, without time, or where count states say nothing, the closed arguments stand alone.
    """
    bound = lower_bound(problem, objective)
    if time_limit_s <= 0 or objective is not Objective.MAKESPAN:
        return bound
    tables = _tables(problem, int(STATES_PER_S * time_limit_s))
    if tables is None:
        return bound
    began = time.monotonic()  # loading the compiler and laying the lattice out are not what the limit is for
    tick_ns = tables.lattice.tick_ns
    low = first = -(-bound.value_ns // tick_ns)
    high: int | None = None
    step = max(1, low // PARTS)
    target = low
    while (high is None or low < high) and time.monotonic() - began < time_limit_s:
        if tables.stands(target) is None:
            low = target + 1
            target, step = (low + step, 2 * step) if high is None else ((low + high) // 2, step)
        else:
            high = target
            target = (low + high) // 2
    if low == first:
        return bound
    return Bound(low * tick_ns, "count states", "all devices and lanes together")


def _tables(problem: Problem, most_states: int) -> Tables | None:
    lattice = lattice_of(problem, most_states) if is_warm() else None
    if lattice is None:
        return None
    from crosspipe.lattice.fixpoint import Tables  # noqa: PLC0415  # the compiler takes a while to load

    return Tables(lattice)
