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
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.lattice.fixpoint import Tables, Windows

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


__all__ = ["Dive", "Diver", "Rule"]
