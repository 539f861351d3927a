"""What must run on a device before or after each of its operations: the sets of `energy.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.bounds.energy_memory import (
    BACKWARD,
    FORWARD,
    WEIGHT,
    Demand,
    Layout,
    pools_of,
    released_before,
    taken_after,
)
from crosspipe.bounds.exact import LARGEST
from crosspipe.bounds.memory_order import gradients_flow, ordered_classes
from crosspipe.bounds.reached import reached
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.bounds.graph import Graph
    from crosspipe.problem.operations import IntArray

MOST_COUNTS = 4 * 10**6
"""Operations x classes whose order is counted."""

MOST_TOTAL = LARGEST >> 6
"""Longest path for which sums stay within 64 bits in every round, also where no schedule exists and they only grow."""


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """One device, seen forwards or (mirrored) backwards in time; places run over `rows`, flattened.

    Attributes
    ----------
    rows
        Operation numbers by class, in the order in which they come.
    durations, shortest
        Per class: of each operation, and of any class of its kind.
    forced
        What must come first, by place and class.
    demands
        Per limited pool.
    """

    rows: IntArray
    durations: IntArray
    shortest: IntArray
    forced: IntArray
    demands: tuple[Demand, ...]


def machines(graph: Graph) -> tuple[tuple[Machine, Machine], ...] | None:
    """Lay out every device of the first replica, forwards and mirrored; None unless the conditions hold.

    Microbatches are identical, every class of compute runs in index order, gradients flow from the last stage to the
    first trainable one, times fit 64 bits however often they are raised, and there are not too many operations.
    """
    problem = graph.problem
    if not problem.identical or not gradients_flow(problem) or graph.total > MOST_TOTAL:
        return None
    found = [_layout(graph, device) for device in range(problem.devices_per_replica) if problem.devices[device].stages]
    layouts = [layout for layout in found if layout is not None]
    if len(layouts) < len(found):
        return None
    classes = np.concatenate([layout.rows for layout in layouts])
    if len(problem.operations) * len(classes) > MOST_COUNTS:
        return None
    before, after = reached(graph, classes), reached(graph, classes, backward=True)
    made, first = [], 0
    for layout in layouts:
        own = slice(first, first + len(layout.rows))
        first += len(layout.rows)
        rows, mirrored = layout.rows, layout.rows[:, ::-1]
        ahead = before[rows.ravel(), own].astype(np.int64)
        behind = after[mirrored.ravel(), own].astype(np.int64)
        device = int(problem.operations.resource[rows[0, 0]])
        pools = pools_of(graph, layout, device)
        shortest = _shortest(layout)
        forwards = [released_before(layout, ahead, pool) for pool in pools]
        backwards = [taken_after(layout, behind, pool) for pool in pools]
        made.append(
            (
                Machine(rows, layout.durations, shortest, ahead, tuple(d for d in forwards if d is not None)),
                Machine(mirrored, layout.durations, shortest, behind, tuple(d for d in backwards if d is not None)),
            )
        )
    return tuple(made)


def _layout(graph: Graph, device: int) -> Layout | None:
    problem = graph.problem
    ordered, single = ordered_classes(problem), problem.microbatches == 1
    kinds, stages, rows = [], [], []
    for kind, what in ((Kind.F, FORWARD), (Kind.B, BACKWARD), (Kind.BW, BACKWARD), (Kind.W, WEIGHT)):
        for stage in problem.devices[device].stages:
            numbers = problem.numbers[kind, 0, stage]
            if numbers[0] < 0:
                continue
            if not single and (kind, 0, stage) not in ordered:
                return None
            kinds.append(what)
            stages.append(stage)
            rows.append(numbers)
    table = np.array(rows, dtype=np.int64)
    return Layout(np.array(kinds), np.array(stages), table, graph.durations[table[:, 0]])


def _shortest(layout: Layout) -> IntArray:
    return np.array([layout.durations[layout.kind == kind].min() for kind in layout.kind.tolist()], dtype=np.int64)
