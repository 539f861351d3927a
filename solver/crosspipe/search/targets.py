"""Targets decided one after another, from the bound up, until one is met.

Tight targets are decided fast, loose ones are not: their windows leave too much open. So they rise from the bound, by
ever longer steps while they are refuted and by ever shorter ones while they stay open; at the bound itself more time is
granted instead. What is met there is close to the optimum, and often is it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crosspipe.lattice.cache import is_warm
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.machines import lattice_of
from crosspipe.lattice.starts import start_windows
from crosspipe.model.result import ModelLimits
from crosspipe.model.target import MOST_OPERATIONS, Targets
from crosspipe.problem.problem import Objective
from crosspipe.problem.step import step_ns
from crosspipe.search.diving import MOST_STATES, applies

if TYPE_CHECKING:
    from crosspipe.model.target import Outcome
    from crosspipe.problem.operations import IntArray
    from crosspipe.search.shared import Shared

FIRST_S = 1.0
"""Time granted to the first targets."""

MORE = 2.0
"""Factor on that time whenever the bound itself stays open."""

LEAST_S = 3e-4
"""What a target counts for at least, per operation, where work is counted: writing it down."""


class TargetSearch:
    """Targets of one problem; `step` decides one.

    Attributes
    ----------
    granted_s
        Time of the next target.
    spent_s
        Time used so far; where work is counted, by the share of it that was done.
    """

    def __init__(self, shared: Shared, seed: int, workers: int, *, deterministic: bool = False) -> None:
        self._shared, self._seed, self._workers, self._deterministic = shared, seed, workers, deterministic
        self._targets: Targets | None = None
        self._tables = _tables(shared)
        self._tick_ns = step_ns(shared.problem)
        self._rise = 0
        self._exhausted = False
        self.granted_s, self.spent_s = FIRST_S, 0.0

    @property
    def applies(self) -> bool:
        """Whether there is a schedule to better, of a problem small enough."""
        small = len(self._shared.problem.operations) <= MOST_OPERATIONS
        known = self._shared.objective is Objective.MAKESPAN and self._shared.schedule is not None
        return small and known and not self._exhausted

    def step(self, most_s: float = float("inf")) -> bool:
        """Decide the next target, in `most_s` at most where work is counted; says whether that was possible."""
        shared, tick = self._shared, self._tick_ns
        if shared.schedule is None or shared.value_ns is None:
            return False
        low, high = -(-shared.bound_ns // tick), -(-shared.value_ns // tick) - 1
        if low > high:
            self._exhausted = True
            return False
        if self._targets is None:
            shared.begin("targets")
            self._targets = Targets(shared.problem, shared.schedule)
        outcome = self._decide(self._targets, min(low + self._rise, high), min(self.granted_s, most_s))
        if outcome == "refuted":
            self._rise = 2 * self._rise + 1
        elif outcome == "too large" and self._rise == 0:
            self._exhausted = True
        elif outcome == "open" and self._rise == 0:
            self.granted_s *= MORE
        elif outcome != "met":
            self._rise //= 4
        return outcome in ("refuted", "met")

    def _decide(self, targets: Targets, target: int, granted_s: float) -> Outcome:
        shared, began = self._shared, time.monotonic()
        windows: tuple[IntArray, IntArray] | None = None
        least_s = LEAST_S * len(shared.problem.operations)
        if self._tables is not None:
            windows = start_windows(shared.problem, self._tables, target)
            if windows is None:
                self.spent_s += least_s if self._deterministic else time.monotonic() - began
                shared.raise_bound((target + 1) * self._tick_ns, "count states")
                return "refuted"
        self._seed += 1
        limits = ModelLimits(
            time_s=shared.left_s if self._deterministic else min(granted_s, shared.left_s),
            workers=self._workers,
            seed=self._seed,
            deterministic=self._deterministic,
        )
        decision = targets.decide(target * self._tick_ns, windows, limits, shared.ended, granted_s)
        counted_s = least_s + decision.work * granted_s
        self.spent_s += counted_s if self._deterministic else time.monotonic() - began
        if decision.outcome == "refuted":
            shared.raise_bound((target + 1) * self._tick_ns, "cp-sat")
        elif decision.orders is not None and not shared.offer(decision.orders, "cp-sat"):
            return "open"
        return decision.outcome


def _tables(shared: Shared) -> Tables | None:
    """Lay out the lattice that narrows windows, where there is one and its kernels are compiled.

    Tables hold what a pass over them is working on, so they are not shared with the dives; the lattice is.
    """
    lattice = shared.lattice
    if lattice is None and applies(shared) and is_warm():
        lattice = lattice_of(shared.problem, MOST_STATES)
    return None if lattice is None else Tables(lattice)
