"""Count states put to a problem with less memory: refuted at a value, or dived into for a schedule of it.

The compiler of their kernels takes a while to load, so nothing is done unless that is worth its while.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from crosspipe.lattice.cache import is_warm
from crosspipe.lattice.leaf import orders_of
from crosspipe.lattice.machines import lattice_of
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.lattice.fixpoint import Tables
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Orders
    from crosspipe.search.allowance import Allowance

LOADING_S = 0.4
"""Usual time that the compiler takes to load."""

LEAST_S = 0.6
"""With less time than this the compiler is not loaded."""

STATES_PER_S = 500_000
"""Count states that are listed in a second."""

VISITS_PER_S = 25_000_000
"""Count states that nodes of dives visit in a second, each node all of them."""

DIVE_S = 0.15
"""Usual time of one dive."""

PATIENT_S = 1.0
"""Usual time of the dive that is to refute by splitting cases."""

FEWEST_NODES, MOST_NODES = 100, 2_000
"""Nodes of one dive, however long each takes."""

ROUNDS = 3
"""How often every rule dives, with ever more noise."""

NOISE = 0.05
"""What each round adds to the noise, in parts of the longest duration."""


class CountStates:
    """Count states of one problem under limits that change.

    Attributes
    ----------
    problem
        The problem, recompute options applied.
    """

    def __init__(self, problem: Problem, objective: Objective, allowance: Allowance, *, kernels: bool = True) -> None:
        self.problem, self._allowance = problem, allowance
        self._loaded = False
        self._useful = kernels and objective is Objective.MAKESPAN and is_warm()
        self._laid: tuple[Problem, Tables | None] | None = None

    @property
    def worthwhile(self) -> bool:
        """Whether there is time enough to dive."""
        return self._useful and (self._loaded or self._allowance.left_s >= LEAST_S)

    def refutes(self, less: Problem, value_ns: int, *, patient: bool) -> bool:
        """Whether no schedule within less memory has a value of at most `value_ns`."""
        tables = self._tables(less)
        if tables is None:
            return False
        target = value_ns // tables.lattice.tick_ns
        self._spend(tables, 1)
        if tables.stands(target) is None:
            return True
        if not patient:
            return False
        from crosspipe.lattice.dive import NO_LIMIT, REFUTING, Diver  # noqa: PLC0415  # the compiler takes a while to load

        nodes = self._nodes(tables, min(PATIENT_S, self._allowance.left_s))
        found = Diver(tables).dive(target, REFUTING, 0, NO_LIMIT, nodes)
        self._spend(tables, found.nodes)
        return found.outcome == "refuted"

    def dives(self, less: Problem, value_ns: int) -> Iterator[Orders]:
        """Dive for orders of a value, by one rule after the other."""
        tables = self._tables(less)
        if tables is None:
            return
        from crosspipe.lattice.dive import FAILURES, RULES, Diver  # noqa: PLC0415  # as above

        diver, target = Diver(tables), value_ns // tables.lattice.tick_ns
        longest = max(tables.duration.tolist())
        for turn, rule in product(range(ROUNDS), RULES):
            if self._allowance.over():
                return
            nodes = self._nodes(tables, min(DIVE_S, self._allowance.left_s))
            noisy = replace(rule, noise=NOISE * turn * longest)
            found = diver.dive(target, noisy, turn, FAILURES, nodes)
            self._spend(tables, found.nodes)
            if found.outcome == "refuted":
                return
            if found.windows is not None:
                yield orders_of(less, tables, found.windows)

    def _nodes(self, tables: Tables, seconds: float) -> int:
        return max(FEWEST_NODES, min(MOST_NODES, int(seconds * VISITS_PER_S / len(tables.counts))))

    def _spend(self, tables: Tables, nodes: int) -> None:
        self._allowance.spend(nodes * len(tables.counts) / VISITS_PER_S)

    def _tables(self, less: Problem) -> Tables | None:
        """Lay out the count states, once for several calls with the same problem; None where that is not worth it."""
        if self._laid is not None and self._laid[0].pools == less.pools:
            return self._laid[1]
        if not self._useful or (not self._loaded and self._allowance.left_s < LEAST_S):
            return None
        most = int(STATES_PER_S * self._allowance.left_s)
        lattice = lattice_of(less, most)
        self._allowance.spend(
            (most if lattice is None else sum(len(m.space.counts) for m in lattice.machines)) / STATES_PER_S
        )
        tables = None
        if lattice is not None:
            from crosspipe.lattice.fixpoint import Tables  # noqa: PLC0415  # the compiler takes a while to load

            if not self._loaded:
                self._allowance.spend(LOADING_S)
                self._loaded = True
            tables = Tables(lattice)
        self._laid = (less, tables)
        return tables
