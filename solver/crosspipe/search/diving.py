"""The lattice at work: bisect the bound, then dive at targets from the bound up, refuting on the way.

Tight targets succeed where loose ones thrash, because they decide most pairs by themselves: the bound itself comes
first, then targets a part of the gap above it. The rule of the largest move refutes best, so it is tried at the bound
with ever more nodes; a refuted bound is raised by one tick.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crosspipe.lattice.dive import Diver, Rule, orders_of
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.machines import lattice_of
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.search.shared import Shared

MOST_STATES = 3_000_000
"""Count states over all machines; about 100 bytes each."""

FRACTIONS = (0.0, 0.1, 0.0, 0.25, 0.0, 0.5, 0.75)
"""Targets of the dives, as parts of the gap above the bound."""

RULES = tuple(Rule(pair, prefer) for prefer in (0, 1, 2) for pair in (1, 2))
REFUTING = Rule(0, 0)

DIVE_S = 1.5
"""Seconds one dive should take at most; nodes are counted out by the speed seen so far."""

FIRST_NODES = 400
FAILURES = 60


@dataclass(slots=True)
class Pace:
    """How many nodes a second the dives make."""

    nodes: int = FIRST_NODES
    seconds: float = 1.0
    refuting_s: float = field(default=DIVE_S)

    def nodes_in(self, seconds: float) -> int:
        """Nodes that take about so many seconds."""
        return max(50, int(self.nodes / self.seconds * seconds))

    def count(self, nodes: int, seconds: float) -> None:
        """Learn from a dive."""
        if nodes:
            self.nodes, self.seconds = self.nodes + nodes, self.seconds + seconds


def work_on_lattice(shared: Shared, seed: int) -> bool:
    """Bound and dive until the search has ended; returns False at once where the lattice does not apply."""
    if shared.objective is not Objective.MAKESPAN or shared.problem.extras or shared.problem.due_ns is not None:
        return False
    lattice = lattice_of(shared.problem, MOST_STATES)
    if lattice is None:
        return False
    tables = Tables(lattice)
    _bisect(shared, tables)
    diver, pace = Diver(tables), Pace()
    for turn, (fraction, rule, noise) in enumerate(_plan(max(tables.duration.tolist()))):
        if shared.ended():
            break
        low, high = _range(shared, lattice.tick_ns)
        target = low if rule is REFUTING else min(low + int(fraction * (high - low)), high)
        seconds = min(shared.left_s, pace.refuting_s if rule is REFUTING else DIVE_S)
        began = time.monotonic()
        failures = 10**9 if rule is REFUTING else FAILURES
        found = diver.dive(target, Rule(rule.pair, rule.prefer, noise), seed + turn, failures, pace.nodes_in(seconds))
        pace.count(found.nodes, time.monotonic() - began)
        if found.outcome == "refuted":
            shared.raise_bound((target + 1) * lattice.tick_ns, "case split")
        elif found.windows is not None:
            shared.offer(orders_of(shared.problem, tables, found.windows), "dive")
        elif rule is REFUTING:
            pace.refuting_s *= 1.5
    return True


def _plan(longest: int) -> Iterator[tuple[float, Rule, float]]:
    """Fraction of the gap, rule and noise of each dive; after a round of all rules noise sets in and grows."""
    for number in range(10**9):
        round_number, place = divmod(number, len(RULES) + 1)
        noise = 0.0 if round_number == 0 else min(0.02 * 1.3**round_number, 0.3) * longest
        if place == len(RULES):
            yield 0.0, REFUTING, 0.0
        else:
            yield FRACTIONS[(number + round_number) % len(FRACTIONS)] if round_number else 0.0, RULES[place], noise


def _range(shared: Shared, tick_ns: int) -> tuple[int, int]:
    """Targets worth trying, in ticks: from the bound to just below the best value."""
    low = -(-shared.bound_ns // tick_ns)
    high = low + 10**9 if shared.value_ns is None else -(-shared.value_ns // tick_ns) - 1
    return low, max(low, high)


def _bisect(shared: Shared, tables: Tables) -> None:
    """Raise the bound to the least target that stands, telling every step."""
    tick_ns = tables.lattice.tick_ns
    low, high = _range(shared, tick_ns)
    if shared.value_ns is None:
        return
    high += 1
    while low < high and not shared.ended():
        middle = (low + high) // 2
        if tables.stands(middle) is None:
            low = middle + 1
            shared.raise_bound(low * tick_ns, "count states")
        else:
            high = middle
