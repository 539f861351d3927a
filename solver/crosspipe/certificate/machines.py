"""The states of one device or lane: how many operations of each class are over, within memory.

A machine runs one operation at a time. What is over, by class, tells what is held at least when the next operation
starts: what F and the backward took, less what ended operations gave back; which W's are over is not told, so those
that give back most are taken to be. An operation that takes time runs only if what it takes fits beside that. Along the
chain, a class is never ahead of an earlier one of the same machine, and W's never of the backwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.certificate.verdict import PYTHON_STEP, RefusedError
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.certificate.chain import Chain, Link
    from crosspipe.certificate.held import Held
    from crosspipe.certificate.verdict import Budget

    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]

MOST_STATES = 3 * 10**6
"""States of all machines together."""


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """States level by level: all of one level have as many operations over.

    Attributes
    ----------
    classes
        Indices into the chain's links.
    levels
        Where each level begins, and the number of states.
    counts
        Shape (states, classes): operations over.
    after, before
        Shape (states, classes): the state with one operation more or less of the class; the number of states where
        there is none.
    cell
        Shape (states, classes): the class's next operation as a flat index into tables of (classes, width + 1).
    """

    classes: tuple[int, ...]
    levels: tuple[int, ...]
    counts: IntArray
    after: IntArray
    before: IntArray
    cell: IntArray

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.counts)


def machines_of(chain: Chain, held: dict[int, list[Held]], width: int, budget: Budget) -> list[Machine]:
    """List the states of every device and lane, those with the fewest first."""
    by_resource: dict[int, list[int]] = {}
    for index, link in enumerate(chain.links):
        if link.resource >= 0:
            by_resource.setdefault(link.resource, []).append(index)
    machines, left = [], MOST_STATES
    for resource, classes in by_resource.items():
        links = [chain.links[index] for index in classes]
        pools = [stages for stages in held.values() if stages and stages[0].device == resource]
        limited = [_Level(links, stages) for stages in pools if stages[0].room is not None]
        machine = _machine(classes, links, limited, width, left, budget)
        left -= machine.states
        machines.append(machine)
    return sorted(machines, key=lambda machine: machine.states)


class _Level:
    """What one pool holds in a state, and what each class takes."""

    def __init__(self, links: list[Link], stages: list[Held]) -> None:
        by_stage = {held.stage: held for held in stages}
        self.room = stages[0].room or 0
        self._forward = np.array([by_stage[k.stages[0]].waiting(0) if k.kind is Kind.F else 0 for k in links])
        backward = [k.kind in (Kind.B, Kind.BW) for k in links]
        # Over, a backward has given back what waited for it, and taken what waits for W.
        change = [
            by_stage[k.stages[0]].backward_to_weight[0] - by_stage[k.stages[0]].to_backward[0] if b else 0
            for k, b in zip(links, backward, strict=True)
        ]
        self._change = np.array(change)
        self.takes = [_taken(k, by_stage) for k in links]
        order = [(by_stage[s].after_backward(0), s) for k in links if k.kind is Kind.W for s in k.stages]
        column = {k.stages[0]: i for i, k in enumerate(links) if backward[i]}
        self._weights = [(amount, column[stage]) for amount, stage in sorted(order, reverse=True)]
        self._weight_column = next((i for i, k in enumerate(links) if k.kind is Kind.W), None)

    def held(self, counts: IntArray) -> IntArray:
        """Least that is held in each state."""
        level: IntArray = counts @ (self._forward + self._change)
        if self._weight_column is not None:
            left = counts[:, self._weight_column].copy()
            for amount, column in self._weights:
                over = np.minimum(left, counts[:, column])
                level = level - amount * over
                left -= over
        return level


def _taken(link: Link, by_stage: dict[int, Held]) -> int | None:
    """Tell what an operation of the class takes at its start; None if it asks for no room."""
    if link.kind.is_transfer or link.kind is Kind.EXTRA or link.duration == 0:
        return None
    held = by_stage[link.stages[0]]
    if link.kind is Kind.F:
        return held.waiting(0) + held.in_forward[0]
    return 0 if link.kind is Kind.W else held.backward_to_weight[0] + held.in_backward[0]


def _machine(
    classes: list[int], links: list[Link], pools: list[_Level], width: int, most: int, budget: Budget
) -> Machine:
    size = len(links)
    limits = np.array([link.count for link in links], dtype=np.int64)
    level = np.zeros((1, size), dtype=np.int64)
    levels, counts, after, before = [0], [level], [], [np.full((1, size), -1, dtype=np.int64)]
    while True:
        first = levels[-1]
        budget.spend(30 * level.size + 50 * PYTHON_STEP)
        states, columns = np.nonzero(_allowed(links, level, limits, pools))
        onward = np.full(level.shape, -1, dtype=np.int64)
        after.append(onward)
        levels.append(first + len(level))
        if not len(states):
            break
        if levels[-1] > most:
            raise RefusedError(f"devices and lanes have more than {MOST_STATES} states")
        nexts = level[states]
        nexts[np.arange(len(states)), columns] += 1
        index, place = _distinct(nexts, limits)
        onward[states, columns] = levels[-1] + place
        backward = np.full((len(index), size), -1, dtype=np.int64)
        backward[place, columns] = first + states
        level = nexts[index]
        counts.append(level)
        before.append(backward)
    if len(level) != 1 or (level[0] != limits).any():
        raise RefusedError("a device cannot finish within its memory")
    total = levels[-1]
    all_counts = np.concatenate(counts)
    tables = [np.concatenate(part) for part in (after, before)]
    for table in tables:
        table[table < 0] = total
    cell = all_counts + np.arange(size) * (width + 1)
    return Machine(tuple(classes), tuple(levels), all_counts, tables[0], tables[1], cell)


def _distinct(rows: IntArray, limits: IntArray) -> tuple[IntArray, IntArray]:
    """Where each distinct row first stands, and which of these each row is."""
    sizes = [limit + 1 for limit in limits.tolist()]
    if math.prod(sizes) < 1 << 62:
        radix = np.array([math.prod(sizes[:column]) for column in range(len(sizes))], dtype=np.int64)
        _, index, place = np.unique(rows @ radix, return_index=True, return_inverse=True)
    else:
        _, index, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return index, place.ravel()


def _allowed(links: list[Link], counts: IntArray, limits: IntArray, pools: list[_Level]) -> BoolArray:
    """Which classes may run one more operation in each state."""
    allowed: BoolArray = counts < limits
    ahead: int | None = None
    for column, link in enumerate(links):
        if link.kind is Kind.W:
            over = [counts[:, i] for i, k in enumerate(links) if k.kind is Kind.B and k.stages[0] in link.stages]
            allowed[:, column] &= counts[:, column] < np.sum(over, axis=0)
            continue
        if link.kind is Kind.EXTRA:
            continue
        if ahead is not None:
            allowed[:, column] &= counts[:, column] < counts[:, ahead]
        ahead = column
    for pool in pools:
        held = pool.held(counts)
        for column, takes in enumerate(pool.takes):
            if takes is not None:
                allowed[:, column] &= held + takes <= pool.room
    return allowed
