"""The lattice at work: bisect the bound, then dive at targets from the bound up, refuting on the way.

Tight targets succeed where loose ones thrash, because they decide most pairs by themselves: the bound itself comes
first, then targets a part of the gap above it. The rule of the largest move refutes best, so it is tried at the bound
or a little above with ever more nodes; a refuted target raises the bound past it. Where messages of both directions
share a lane, their order decides nearly all else: there every other dive goes by this rule, which finds schedules, too.
"""

from __future__ import annotations

import time
from itertools import cycle
from typing import TYPE_CHECKING

from crosspipe.lattice.dive import EXTRA_RULES, FAILURES, NO_LIMIT, REFUTING, RULES, Dive, Diver, Rule
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.leaf import orders_of
from crosspipe.lattice.machines import has_lattice, lattice_of
from crosspipe.lattice.tree import tree_of
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crosspipe.search.pace import Pace
    from crosspipe.search.shared import Shared

MOST_STATES = 6_000_000
"""Count states over all machines; about 100 bytes each."""

FRACTIONS = (0.0, 0.1, 0.0, 0.25, 0.0, 0.5, 0.75)
"""Targets of the dives, as parts of the gap above the bound."""

LOUDEST = 20
"""Round of all rules after which noise grows no more."""

EXTRA_PATIENCE = 2.0
"""How many times longer dives are where extra operations have to be placed as well."""

LEAF_DEPTH = 0.6
"""Nodes on the way to a leaf for each operation, about: the windows decide most pairs by themselves."""

SLOW_FRACTIONS = (0.1, 0.25, 0.05, 0.5)
"""Targets of dives where the way to a leaf is long: few can be made, and only the first at the bound itself."""

SLOW_FAILURES = 5 * FAILURES
"""Refuted branches of such a dive: beginning anew costs more."""

NO_TARGET = 2**60
"""Beyond every target."""


def applies(shared: Shared) -> bool:
    """Whether the lattice can be laid out, its size apart."""
    return shared.objective is Objective.MAKESPAN and has_lattice(shared.problem)


def work_on_lattice(shared: Shared, seed: int, pace: Pace, on_bounded: Callable[[], None] = lambda: None) -> None:
    """Bound and dive until the search has ended or the pace says so; nothing where the lattice is too large.

    `on_bounded` is called once the bound of the count states stands.
    """
    lattice = lattice_of(shared.problem, MOST_STATES) if applies(shared) else None
    if lattice is None:
        return
    shared.lattice = lattice
    shared.begin("count states")
    tables = Tables(lattice)
    pace.states, pace.depth = len(tables.counts), int(LEAF_DEPTH * len(shared.problem.operations))
    _bisect(shared, tables)
    on_bounded()
    diver, widest, rising = Diver(tables), NO_TARGET, cycle(SLOW_FRACTIONS)
    if not shared.ended():
        shared.begin("dives")
    pace.longer = EXTRA_PATIENCE if shared.problem.extras else 1.0
    for turn, (fraction, rule, noise) in enumerate(_plan_for(shared, tables)):
        if shared.ended() or pace.over():
            break
        low, high = _range(shared, lattice.tick_ns)
        if high < widest and shared.value_ns is not None:
            widest = high
            if not diver.narrow(widest):
                shared.raise_bound((widest + 1) * lattice.tick_ns, "count states")
                break
        refuting = rule is REFUTING
        if refuting and pace.slow:
            continue
        above = next(rising) if pace.slow else fraction
        target = min(low + (pace.jump if refuting else int(above * (high - low))), high)
        failures = NO_LIMIT if refuting else SLOW_FAILURES if pace.slow else FAILURES
        nodes = pace.allowance(shared.left_s, refuting)
        began = time.monotonic()
        found = diver.dive(target, Rule(rule.pair, rule.prefer, noise), seed + turn, failures, nodes)
        pace.count(found.nodes, time.monotonic() - began)
        if found.outcome == "refuted":
            _refuted(shared, tables, target, found)
            pace.jump = min(2 * pace.jump + 1, (high - low) // 10)
        elif found.windows is not None:
            shared.offer(orders_of(shared.problem, tables, found.windows), "dive")
        elif refuting:
            pace.refuting, pace.jump = pace.refuting * 1.5, pace.jump // 2


def _refuted(shared: Shared, tables: Tables, target: int, found: Dive) -> None:
    """Raise the bound by a refuted target, with the tree that proves it if there is one to tell."""
    if found.nodes == 0:
        shared.raise_bound((target + 1) * tables.lattice.tick_ns, "count states")
        return
    proof = {} if found.trace is None else {"tree": tree_of(tables.lattice, found.trace)}
    shared.raise_bound((target + 1) * tables.lattice.tick_ns, "case split", proof)


def _plan_for(shared: Shared, tables: Tables) -> Iterator[tuple[float, Rule, float]]:
    lattice = tables.lattice
    messages = [sum(index < lattice.chain for index in m.nodes) for m in lattice.machines[: lattice.lanes]]
    shared_lane = any(classes > 1 for classes in messages)
    rules = EXTRA_RULES if shared.problem.extras else RULES
    return _plan(max(tables.duration.tolist()), 2 if shared_lane else len(RULES) + 1, rules)


def _plan(longest: int, every: int, rules: Sequence[Rule]) -> Iterator[tuple[float, Rule, float]]:
    """Fraction of the gap, rule and noise of each dive; after a round of all rules noise sets in and grows.

    One of `every` dives is meant to refute.
    """
    number = 0
    for turn in range(1, 10**9):
        if turn % every == 0:
            yield 0.0, REFUTING, 0.0
            continue
        round_number, place = divmod(number, len(rules))
        noise = 0.0 if round_number == 0 else min(0.02 * 1.3 ** min(round_number, LOUDEST), 0.3) * longest
        yield FRACTIONS[(number + round_number) % len(FRACTIONS)] if round_number else 0.0, rules[place], noise
        number += 1


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
        narrowed = tables.narrowed(middle)
        if narrowed is None:
            low = middle + 1
            shared.raise_bound(low * tick_ns, "count states")
        else:
            tables, high = narrowed[0], middle
