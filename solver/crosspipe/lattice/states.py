"""The states of one machine: counts of its classes that memory allows, and what each operation leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.lattice.nodes import Node
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem


LARGEST_KEY = 2**62
"""Numbers of states stay below: products of counts must not leave 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class StateSpace:
    """States in an order in which every operation leads to a later one; the first is empty, the last is the end.

    Attributes
    ----------
    counts
        Shape (states, classes): operations of each class that are over.
    successors
        Shape (states, classes): the state after one more operation of the class, -1 where it may not run.
    """

    counts: IntArray
    successors: IntArray


@dataclass(frozen=True, slots=True)
class Amounts:
    """Memory of one stage on the device: taken at the start of F, at the start of B, given back at the end of B, W."""

    forward: int
    extra: int
    backward: int
    weight: int


class DeviceMemory:
    """What a device holds in a state: after `n` F's, B's and W's of its stages, at least.

    The joint W class does not say whose W's are over; the most that so many can have given back is taken, so no state
    of a feasible schedule is lost.
    """

    def __init__(self, problem: Problem, nodes: Sequence[Node], device: int) -> None:
        pool = problem.pools[device]
        self.capacity = pool.room
        self._nodes = nodes
        self._amounts = {stage: _amounts(problem, stage, device) for stage in problem.devices[device].stages}
        self._forward = np.array([self._amounts[n.stages[0]].forward if n.kind is Kind.F else 0 for n in nodes])
        self._backward = np.array(
            [self._amounts[n.stages[0]].backward if n.kind in (Kind.B, Kind.BW) else 0 for n in nodes]
        )

    def needed(self, column: int, held: IntArray) -> IntArray:
        """Memory held while an operation of the class runs, before it gives anything back."""
        node = self._nodes[column]
        if node.kind is Kind.F:
            return held + self._amounts[node.stages[0]].forward
        if node.kind in (Kind.B, Kind.BW):
            return held + self._amounts[node.stages[0]].extra
        return held

    def held(self, counts: IntArray) -> IntArray:
        """Least memory held in each state."""
        level: IntArray = counts @ self._forward - counts @ self._backward
        weights = [(i, n) for i, n in enumerate(self._nodes) if n.kind is Kind.W]
        for column, node in weights:
            over = counts[:, column].copy()
            backs = {n.stages[0]: counts[:, i] for i, n in enumerate(self._nodes) if n.kind is Kind.B}
            for stage in sorted(node.stages, key=lambda s: -self._amounts[s].weight):
                done = np.minimum(over, backs[stage])
                level = level - done * self._amounts[stage].weight
                over -= done
            for stage in node.stages:
                level = level + backs[stage] * self._amounts[stage].extra
        return level


def _amounts(problem: Problem, stage: int, device: int) -> Amounts:
    """Read a stage's holdings of microbatch 0: F to B, F to W, B to W (or BW, or F alone).

    What extra operations take or give back is left out.
    """
    holdings = problem.holdings
    kinds = problem.operations.kind
    rows = np.flatnonzero(
        (holdings.pool == device)
        & (problem.operations.stage[holdings.taken_by] == stage)
        & (problem.operations.microbatch[holdings.taken_by] == 0)
    )
    forward = extra = backward = weight = 0
    for row in rows.tolist():
        taken, given = Kind(int(kinds[holdings.taken_by[row]])), Kind(int(kinds[holdings.given_by[row]]))
        amount = int(holdings.amount[row])
        if (taken is Kind.F and given is Kind.F) or given is Kind.EXTRA:
            continue
        if taken is Kind.F:
            forward += amount
            if given is Kind.W:
                weight += amount
            else:
                backward += amount
        else:
            extra += amount
            if given is Kind.W:
                weight += amount
    return Amounts(forward, extra, backward, weight)


def enumerate_states(problem: Problem, nodes: Sequence[Node], resource: int, most: int) -> StateSpace | None:
    """List the states reachable from the empty one within memory.

    None if there are more than `most`, or if memory never lets all operations run.
    """
    memory = DeviceMemory(problem, nodes, resource) if resource < len(problem.devices) else None
    limits = np.array([node.count for node in nodes], dtype=np.int64)
    level = np.zeros((1, len(nodes)), dtype=np.int64)
    levels, links, first = [level], [], 0
    while True:
        targets = np.full((len(level), len(nodes)), -1, dtype=np.int64)
        allowed = _allowed(nodes, level, limits, memory)
        rows, columns = np.nonzero(allowed)
        if not len(rows):
            links.append(targets)
            break
        nexts = level[rows].copy()
        nexts[np.arange(len(rows)), columns] += 1
        _, index, inverse = np.unique(_keys(nexts, limits), return_index=True, return_inverse=True)
        first += len(level)
        targets[rows, columns] = first + inverse
        links.append(targets)
        level = nexts[index]
        levels.append(level)
        if first + len(level) > most:
            return None
    if len(level) != 1 or (level[0] != limits).any():
        return None
    return StateSpace(np.concatenate(levels), np.concatenate(links))


def _keys(counts: IntArray, limits: IntArray) -> IntArray:
    """Give every row a number: equal rows, and only they, get equal ones."""
    keys, most = np.zeros(len(counts), dtype=np.int64), 1
    for column, limit in enumerate(limits.tolist()):
        if most * (limit + 1) > LARGEST_KEY:
            # Many classes of many operations: only as many numbers as there are rows are kept.
            known, keys = np.unique(keys, return_inverse=True)
            most = len(known)
        keys = keys * (limit + 1) + counts[:, column]
        most *= limit + 1
    return keys


def _allowed(
    nodes: Sequence[Node], counts: IntArray, limits: IntArray, memory: DeviceMemory | None
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which classes may run one more operation in each state."""
    allowed = counts < limits
    held = None if memory is None or memory.capacity is None else memory.held(counts)
    previous: int | None = None
    for column, node in enumerate(nodes):
        if node.kind is Kind.W:
            backward = sum(counts[:, i] for i, n in enumerate(nodes) if n.kind is Kind.B and n.stages[0] in node.stages)
            allowed[:, column] &= counts[:, column] < backward
        elif node.kind is not Kind.EXTRA:
            if previous is not None:
                allowed[:, column] &= counts[:, column] < counts[:, previous]
            previous = column
        # What an operation of no length takes may be given back in the same moment: it asks for no room.
        if held is not None and memory is not None and memory.capacity is not None and node.duration > 0:
            allowed[:, column] &= memory.needed(column, held) <= memory.capacity
    return allowed
