"""Schedules by diving: at a fixed target time, decide pair after pair until one order is left.

Tight targets decide most pairs by themselves; a leaf's orders replay to a makespan of at most the target, and fit,
where the W's of each device are alike, as are the extra operations on each device and lane, and no cap on microbatches
in flight binds (elsewhere the lattice is relaxed, and the orders are judged by who takes them). If every branch
is refuted instead, no schedule is as short: the children of a node, "A before B" and "B before A", cover all schedules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from crosspipe.lattice.dive_kernel import (
    BACKWARD,
    BY_EARLIEST,
    BY_LATEST,
    BY_SUM,
    FORWARD,
    LARGEST_MOVE,
    LEAF,
    REFUTED,
    dive,
)
from crosspipe.problem.problem import Kind
from crosspipe.schedule.orders import Orders

if TYPE_CHECKING:
    from crosspipe.lattice.fixpoint import Tables, Windows
    from crosspipe.lattice.machines import Lattice
    from crosspipe.lattice.nodes import Node
    from crosspipe.problem.problem import Problem

MOST_SAVED_BYTES = 400 * 10**6
"""Memory for saved windows; the search gives up a branch deeper than that allows."""

DEEPEST = 4096

MOST_TRACED = 20_000
"""Decisions and refuted branches of a dive that are kept as a proof."""

Trace = np.ndarray[tuple[int, ...], np.dtype[np.int32]]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a dive chooses.

    Attributes
    ----------
    pair
        Which pair next: `LARGEST_MOVE` of windows (on lanes, then on devices), `FORWARD` from the start, `BACKWARD`
        from the end.
    prefer
        Which of the two goes first at first: `BY_LATEST` start, `BY_EARLIEST` start, `BY_SUM` of both.
    noise
        Ticks of random noise on both choices.
    """

    pair: int
    prefer: int
    noise: float = 0.0


REFUTING = Rule(LARGEST_MOVE, BY_LATEST)
"""The rule that refutes best."""

RULES = tuple(Rule(pair, prefer) for prefer in (BY_LATEST, BY_EARLIEST, BY_SUM) for pair in (FORWARD, BACKWARD))
"""Those that find schedules."""

EXTRA_RULES = tuple(sorted(RULES, key=lambda rule: rule.prefer != BY_EARLIEST))
"""The same where extra operations are to be placed: what is ready first goes first, at first."""

FAILURES = 60
"""Refuted branches after which a dive for a schedule is given up."""

NO_LIMIT = 10**9
"""The same for a dive that is to refute."""


@dataclass(frozen=True, slots=True, eq=False)
class Dive:
    """What a dive came to: a leaf with its windows, a refuted target, or nothing within its limits.

    `trace` is the whole tree of a target refuted by decisions, as the kernel lists it; None if it is too long to keep,
    or if the target is refuted without any.
    """

    outcome: Literal["leaf", "refuted", "given up"]
    nodes: int
    windows: Windows | None
    trace: Trace | None = None


class Diver:
    """Dives into one lattice; its tables are used by one dive at a time."""

    def __init__(self, tables: Tables) -> None:
        lattice = tables.lattice
        self._tables = tables
        classes, placed = len(lattice.nodes), sum(node.machine >= 0 for node in lattice.nodes)
        size = classes * lattice.width * 8
        self._deepest = max(64, min(DEEPEST, MOST_SAVED_BYTES // (2 * size)))
        self._saved_r = np.zeros((self._deepest, classes, lattice.width), dtype=np.int64)
        self._saved_q = np.zeros_like(self._saved_r)
        self._before = np.zeros((placed, placed, lattice.width), dtype=np.int32)
        self._pairs = np.zeros((self._deepest, 5), dtype=np.int64)
        self._turns = np.zeros(self._deepest, dtype=np.int64)
        self._weight_follows = np.array([n.kind is Kind.W and len(n.stages) == 1 for n in lattice.nodes])

    def narrow(self, target: int) -> bool:
        """Look at no longer targets from now on; False if this one is refuted."""
        narrowed = self._tables.narrowed(target)
        if narrowed is not None:
            self._tables = narrowed[0]
        return narrowed is not None

    def dive(self, target: int, rule: Rule, seed: int, most_failures: int, most_nodes: int) -> Dive:
        """Dive once for a leaf at the target (ticks)."""
        lattice, narrowed = self._tables.lattice, self._tables.narrowed(target)
        if narrowed is None:
            return Dive("refuted", 0, None)
        tables, windows = narrowed
        nodes = np.zeros(1, dtype=np.int64)
        dirty = np.zeros(len(lattice.machines), dtype=np.bool_)
        trace = np.zeros((min(2 * most_nodes + 1, MOST_TRACED), 5), dtype=np.int32)
        traced = np.zeros(1, dtype=np.int64)
        outcome = dive(
            target,
            rule.pair,
            rule.prefer,
            rule.noise,
            seed,
            most_failures,
            most_nodes,
            tables.counts,
            tables.successors,
            tables.forbidden,
            tables.first_state,
            tables.classes,
            tables.first_class,
            tables.duration,
            tables.lag,
            lattice.chain,
            lattice.microbatches,
            tables.count,
            tables.machine_of,
            tables.links,
            tables.hours,
            self._weight_follows,
            lattice.lanes,
            windows.r,
            windows.q,
            dirty,
            tables.latest,
            tables.earliest,
            tables.new_r,
            tables.new_end,
            tables.passes,
            self._before,
            self._saved_r,
            self._saved_q,
            self._pairs,
            self._turns,
            nodes,
            trace,
            traced,
        )
        tables.forbidden[:] = 0
        if outcome == LEAF:
            return Dive("leaf", int(nodes[0]), windows)
        if outcome != REFUTED:
            return Dive("given up", int(nodes[0]), None)
        whole = int(traced[0]) <= len(trace)
        return Dive("refuted", int(nodes[0]), None, trace[: int(traced[0])] if whole else None)


def tree_of(lattice: Lattice, trace: Trace) -> list[list[str | int] | int]:
    """Write the tree of a refuted target: `[class, index, class, index]`, the first before the second at first, or 0.

    Depth first, each decision followed by the branches of its two orders; 0 is a refuted branch. Classes are named `F
    3`, `B 3`, `activation 2`, `gradient 2` (over the second link on its way `gradient 2 leg 1`), `W 1` (all W of
    device 1), `extra 17` (those joined with operation 17).
    """
    names = [_name(lattice, node) for node in lattice.nodes]
    tree: list[list[str | int] | int] = []
    for machine, u, i, v, j in trace.tolist():
        nodes = lattice.machines[machine].nodes
        tree.append(0 if machine < 0 else [names[nodes[u]], i, names[nodes[v]], j])
    return tree


def _name(lattice: Lattice, node: Node) -> str:
    if node.kind is Kind.W:
        return f"W {lattice.machines[node.machine].resource}"
    if node.kind is Kind.EXTRA:
        return f"extra {min(node.members)}"
    what = {Kind.ACTIVATION: "activation", Kind.GRADIENT: "gradient", Kind.BW: "B"}.get(node.kind, node.kind.name)
    return f"{what} {node.stages[0]} leg {node.leg}" if node.leg else f"{what} {node.stages[0]}"


def orders_of(problem: Problem, tables: Tables, windows: Windows) -> Orders:
    """Read the orders of a leaf: on each machine its operations by earliest start.

    Of those that start together the empty ones go first, along the chain: they may give back what another needs. Extra
    operations take the places of their class; those that are in none go where they can start.
    """
    lattice = tables.lattice
    sequences: list[list[int]] = [[] for _ in range(problem.resources)]
    single = {node.members[0]: index for index, node in enumerate(lattice.nodes) if _by_itself(node)}
    placed: set[int] = set()
    rows: dict[int, list[tuple[int, int, int, int, int]]] = {}
    for machine in lattice.machines:
        rows[machine.resource] = [
            (int(windows.r[index, j]), lattice.nodes[index].duration, place, index, j)
            for place, index in enumerate(machine.nodes)
            for j in range(lattice.nodes[index].count)
        ]
        placed.update(member for index in machine.nodes for member in lattice.nodes[index].members)
    for member, index in single.items():
        if member not in placed and (resource := int(problem.operations.resource[member])) >= 0:
            row = rows.setdefault(resource, [])
            row.append((int(windows.r[index, 0]), lattice.nodes[index].duration, len(lattice.nodes), index, 0))
    for resource, row in rows.items():
        takers = {
            index: _takers(lattice.nodes[index], lattice, windows, single, windows.r[index].tolist())
            for index in {index for _, _, _, index, _ in row}
        }
        sequences[resource] = _numbers(problem, tables, [(index, j) for _, _, _, index, j in sorted(row)], takers)
    return Orders(tuple(np.array(sequence, dtype=np.int64) for sequence in sequences), problem.recomputed)


def _takers(node: Node, lattice: Lattice, windows: Windows, single: dict[int, int], starts: list[int]) -> list[int]:
    """Give each place of joined extra operations a member: of those that can start by then the most urgent."""
    left = list(node.members)
    taken = []
    for start in starts[: len(left)]:

        def preference(member: int, start: int = start) -> tuple[int, int, int, int]:
            index = single[member]
            early = int(windows.r[index, 0])
            after = int(windows.q[index, 0]) + lattice.nodes[index].duration
            # What cannot start by then comes last: the sooner the better.
            return (0, -after, early, member) if early <= start else (1, early, -after, member)

        member = min(left, key=preference)
        left.remove(member)
        taken.append(member)
    return taken


def _by_itself(node: Node) -> bool:
    return node.kind is Kind.EXTRA and node.machine < 0


def _numbers(problem: Problem, tables: Tables, order: list[tuple[int, int]], takers: dict[int, list[int]]) -> list[int]:
    """Operation numbers of (class, index) pairs; the k-th W is that of the k-th B that is over."""
    over: list[tuple[int, int]] = []
    weights = 0
    numbers = []
    for index, j in order:
        node = tables.lattice.nodes[index]
        if node.kind is Kind.EXTRA:
            numbers.append(takers[index][j])
            continue
        if node.kind is Kind.W:
            stage, microbatch = over[weights]
            weights += 1
        else:
            stage, microbatch = node.stages[0], j
        if node.kind is Kind.B and problem.number(Kind.W, stage, 0) is not None:
            over.append((stage, microbatch))
        numbers.append(int(problem.numbers_by_leg[node.leg, node.kind, 0, stage, microbatch]))
    return numbers


__all__ = ["Dive", "Diver", "Rule", "orders_of", "tree_of"]
