"""The precedence graph of a problem, ready for longest-path passes in numpy.

Edges: the problem's precedences; the index order of each class where it holds (`Problem.chains`: starts in order, hence
one after the other where the class shares a device or lane); the order that limited memory forces (`memory_order`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosspipe.bounds.exact import exact, total_of
from crosspipe.bounds.memory_order import memory_order
from crosspipe.bounds.stage_memory import StageMemory, stage_memories
from crosspipe.errors import DeadlockError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.problem.problem import Problem

    IntArray = NDArray[np.int64]


class Reason(IntEnum):
    """Why one operation waits for another."""

    PRECEDENCE = 0
    ORDER = 1
    MEMORY = 2


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Operations of one level with the edges that bear on them: those of `targets[k]` start at `offsets[k]`."""

    targets: IntArray
    others: IntArray
    weights: NDArray[Any]
    offsets: IntArray


@dataclass(frozen=True, eq=False)
class Graph:
    """Operations and edges; `start(after) >= end(before) + lag`.

    Attributes
    ----------
    problem
        Without open recompute choices.
    durations, lag
        Exact integers: 64 bits, or Python's where sums would not fit.
    reason
        `Reason` of each edge.
    total
        No path is longer, waits for openings counted.
    forward
        Steps by rising level: targets are the edges' `after`, weights their lags.
    backward
        Steps by falling level: targets are the edges' `before`, weights lag + duration of `after`.
    """

    problem: Problem
    memories: tuple[StageMemory, ...]
    durations: NDArray[Any]
    before: IntArray
    after: IntArray
    lag: NDArray[Any]
    reason: IntArray
    forward: tuple[Step, ...]
    backward: tuple[Step, ...]
    total: int

    @cached_property
    def _incoming(self) -> tuple[IntArray, IntArray]:
        return _grouped(self.after, len(self.durations))

    @cached_property
    def _outgoing(self) -> tuple[IntArray, IntArray]:
        return _grouped(self.before, len(self.durations))

    def edges_into(self, operation: int) -> IntArray:
        """Numbers of the edges that an operation waits for."""
        order, firsts = self._incoming
        return order[firsts[operation] : firsts[operation + 1]]

    def edges_from(self, operation: int) -> IntArray:
        """Numbers of the edges that wait for an operation."""
        order, firsts = self._outgoing
        return order[firsts[operation] : firsts[operation + 1]]


def graph_of(problem: Problem) -> Graph:
    """Build the graph of a problem without open recompute choices.

    Raises
    ------
    DeadlockError
        If precedences wait for each other in a circle.
    """
    ops, given = problem.operations, problem.precedences
    memories = stage_memories(problem)
    forced = memory_order(problem, memories)
    chain_before = np.concatenate([np.zeros(0, dtype=np.int64), *(chain[:-1] for chain in problem.chains)])
    chain_after = np.concatenate([np.zeros(0, dtype=np.int64), *(chain[1:] for chain in problem.chains)])
    total = total_of(ops.duration_ns) + total_of(given.lag_ns) + _longest_wait(problem)
    durations = exact(ops.duration_ns, total)
    before = np.concatenate([given.before, chain_before, forced.before])
    after = np.concatenate([given.after, chain_after, forced.after])
    lag = np.concatenate(
        [exact(given.lag_ns, total), _order_lags(problem, chain_before, chain_after), np.zeros_like(forced.before)]
    )
    sizes = [len(given), len(chain_before), len(forced.before)]
    reason = np.repeat(np.array([Reason.PRECEDENCE, Reason.ORDER, Reason.MEMORY], dtype=np.int64), sizes)
    levels = _levels(len(ops), before, after)
    if (circle := np.flatnonzero(levels < 0)).size:
        raise DeadlockError(f"{problem.label(int(circle[0]))} waits for itself", tuple(circle.tolist()))
    return Graph(
        problem,
        memories,
        durations,
        before,
        after,
        lag,
        reason,
        _steps(levels[after], after, before, lag),
        _steps(-levels[before], before, after, lag + durations[after]),
        total,
    )


def _longest_wait(problem: Problem) -> int:
    """More than windows can add to any head: every single one once, a period for every operation on the lane."""
    waits = 0
    for resource, lane in enumerate(problem.lanes, len(problem.devices)):
        for window in lane.windows:
            edge = window.start_ns if window.end_ns is None else window.end_ns
            waits += edge if window.period_ns is None else window.period_ns * (len(problem.by_resource[resource]) + 1)
    return waits


def _grouped(ends: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Edge numbers sorted by one end, and where those of each operation begin."""
    order = np.argsort(ends, kind="stable")
    return order, np.searchsorted(ends[order], np.arange(count + 1))


def _order_lags(problem: Problem, before: IntArray, after: IntArray) -> NDArray[Any]:
    """Zero where one follows the other on a device or lane; minus the duration where only the starts are in order."""
    ops = problem.operations
    shared = (ops.resource[before] == ops.resource[after]) & (ops.resource[before] >= 0)
    # An operation of no length may start together with a longer one placed before it in the order of starts.
    shared &= (ops.duration_ns[after] > 0) | (ops.duration_ns[before] == 0)
    return np.where(shared, 0, -ops.duration_ns[before])


def _levels(count: int, before: IntArray, after: IntArray) -> IntArray:
    """Most edges on a path to each operation; -1 on and behind a circle."""
    order, edges = _grouped(before, count)
    targets = after[order]
    waiting = np.bincount(after, minlength=count)
    levels = np.full(count, -1, dtype=np.int64)
    front, level = np.flatnonzero(waiting == 0), 0
    while len(front):
        levels[front] = level
        sizes = edges[front + 1] - edges[front]
        skipped = np.repeat(edges[front] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
        reached = targets[skipped + np.arange(len(skipped))]
        np.subtract.at(waiting, reached, 1)
        front, level = np.unique(reached[waiting[reached] == 0]), level + 1
    return levels


def _steps(levels: IntArray, targets: IntArray, others: IntArray, weights: NDArray[Any]) -> tuple[Step, ...]:
    if not len(targets):
        return ()
    order = np.lexsort((targets, levels))
    levels, targets, others, weights = levels[order], targets[order], others[order], weights[order]
    firsts = np.flatnonzero(np.concatenate([[True], targets[1:] != targets[:-1]]))
    heads = targets[firsts]
    cuts = np.flatnonzero(np.diff(levels[firsts])) + 1
    bounds = [0, *cuts.tolist(), len(firsts)]
    edges = [*firsts[bounds[:-1]].tolist(), len(targets)]
    return tuple(
        Step(
            heads[low:high],
            others[edges[k] : edges[k + 1]],
            weights[edges[k] : edges[k + 1]],
            firsts[low:high] - edges[k],
        )
        for k, (low, high) in enumerate(pairwise(bounds))
    )
