"""What must run on a device before or after each of its operations, memory counted: the sets of `energy.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.bounds.memory_order import gradients_flow, ordered_classes
from crosspipe.bounds.reached import reached
from crosspipe.problem.problem import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.stage_memory import StageMemory

    IntArray = NDArray[np.int64]

MOST_COUNTS = 4 * 10**6
"""Operations x classes whose order is counted."""

FORWARD, BACKWARD, WEIGHT = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A number of further operations, the cheapest among some classes.

    Attributes
    ----------
    classes
        Classes of the device they may come from.
    limit
        At most so many of each class, by operation and class.
    count
        How many there are, by case.
    each_ns
        The shortest of their durations.
    """

    classes: IntArray
    limit: IntArray
    count: IntArray
    each_ns: int


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """What one pool asks for beside what is forced: of the cases of an operation, one holds.

    Attributes
    ----------
    operation
        Place of the operation by case, ascending.
    choices
        What each case takes.
    """

    operation: IntArray
    choices: tuple[Choice, ...]


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


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Classes of one device: `kind` (FORWARD, BACKWARD, WEIGHT) and stage of each, and the amounts of one pool."""

    kind: IntArray
    stage: IntArray
    rows: IntArray
    durations: IntArray

    def of(self, kind: int) -> IntArray:
        return np.flatnonzero(self.kind == kind)


def machines(graph: Graph) -> tuple[tuple[Machine, Machine], ...] | None:
    """Lay out every device of the first replica, forwards and mirrored; None unless the conditions hold.

    Microbatches are identical, every class of compute runs in index order, gradients flow from the last stage to the
    first trainable one, times fit 64 bits, and there are not too many operations.
    """
    problem = graph.problem
    if not problem.identical or not gradients_flow(problem) or graph.durations.dtype != np.int64:
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
        pools = _pools(graph, layout, device)
        shortest = _shortest(layout)
        forwards = [_released_before(layout, ahead, pool) for pool in pools]
        backwards = [_taken_after(layout, behind, pool) for pool in pools]
        made.append(
            (
                Machine(rows, layout.durations, shortest, ahead, tuple(d for d in forwards if d is not None)),
                Machine(mirrored, layout.durations, shortest, behind, tuple(d for d in backwards if d is not None)),
            )
        )
    return tuple(made)


def _layout(graph: Graph, device: int) -> _Layout | None:
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
    return _Layout(np.array(kinds), np.array(stages), table, graph.durations[table[:, 0]])


def _shortest(layout: _Layout) -> IntArray:
    return np.array([layout.durations[layout.kind == kind].min() for kind in layout.kind.tolist()], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """Amounts of one pool per class of a device.

    F takes `taken` until the end of the backward or of W; the end of the backward gives back `released` (less what the
    backward took for W), that of W too. `beside` is what an operation takes for itself while it runs, all that the
    backward takes counted.
    """

    room: int
    taken: IntArray
    released: IntArray
    beside: IntArray


def _pools(graph: Graph, layout: _Layout, device: int) -> list[_Pool]:
    """Pools whose stages all hold what they take: F takes time, so that what it takes is held when it starts."""
    groups: dict[int, list[StageMemory]] = {}
    for memory in graph.memories:
        if memory.device == device and memory.room is not None:
            groups.setdefault(memory.pool, []).append(memory)
    found = [_pool(layout, group) for group in groups.values() if all(m.takes_time[Kind.F].all() for m in group)]
    return [pool for pool in found if pool.taken.any()]


def _pool(layout: _Layout, group: Sequence[StageMemory]) -> _Pool:
    taken, released, beside = (np.zeros(len(layout.kind), dtype=np.int64) for _ in range(3))
    for memory in group:
        for place in np.flatnonzero(layout.stage == memory.stage).tolist():
            kind, extra = layout.kind[place], int(memory.extra_until_weight[0])
            if kind == FORWARD and memory.backward is not None:
                taken[place] = memory.activation[0]
            if kind == FORWARD:
                beside[place] = memory.forward_only[0]
            elif kind == BACKWARD:
                released[place] = memory.until_backward[0] - extra
                beside[place] = extra + memory.extra_backward[0]
            else:
                released[place] = memory.until_weight[0] + extra
    return _Pool(int(group[0].room or 0), taken, released, beside)


def _own(layout: _Layout) -> tuple[IntArray, IntArray]:
    """Class and index of every place."""
    count, width = layout.rows.shape
    return np.repeat(np.arange(count), width), np.tile(np.arange(width), count)


def _released_before(layout: _Layout, forced: IntArray, pool: _Pool) -> Demand | None:
    """List all ways in which backwards and weight halves can have given back enough before F or a backward starts."""
    place, index = _own(layout)
    width = layout.rows.shape[1]
    asks = (layout.kind[place] != WEIGHT) & (layout.durations[place] > 0)
    own = np.where(layout.kind[place] == FORWARD, pool.taken[place], 0) + pool.beside[place]
    need = own + forced @ (pool.taken - pool.released) - pool.room
    back, weight = layout.of(BACKWARD), layout.of(WEIGHT)
    if not len(back):
        return None
    # A later stage's backward of the same microbatch, and of later ones, may come before this backward.
    later = (layout.kind[place] == BACKWARD)[:, None] & (layout.stage[back] > layout.stage[place][:, None])
    limit = np.where(later, width, index[:, None])
    most = np.maximum(limit - forced[:, back], 0).sum(axis=1)
    by_back = int(pool.released[back].max())
    by_weight = int(pool.released[weight].max(initial=0))
    numbers = np.arange(int(most.max()) + 1)
    missing = np.maximum(need[:, None] - by_back * numbers, 0)
    weights = -(-missing // by_weight) if by_weight > 0 else np.where(missing > 0, width * len(layout.rows) + 1, 0)
    ended = forced[:, back].sum(axis=1) - forced[:, weight].sum(axis=1)
    valid = (asks & (need > 0))[:, None] & (numbers <= most[:, None]) & (weights <= ended[:, None] + numbers)
    # More backwards than enough alone only add to what must run before.
    enough = np.cumsum((missing == 0) & valid, axis=1)
    operation, number = np.nonzero(valid & ((enough == 0) | ((enough == 1) & (missing == 0))))
    if not len(operation):
        return None
    choices = [Choice(back, limit, number, int(layout.durations[back].min()))]
    if by_weight > 0:
        count = weights[operation, number]
        choices.append(Choice(weight, np.full_like(limit, width), count, int(layout.durations[weight].min())))
    return Demand(operation, tuple(choices))


def _taken_after(layout: _Layout, forced: IntArray, pool: _Pool) -> Demand | None:
    """Find the forwards that must start after an operation's end, as what is given back later is held till then."""
    place, index = _own(layout)
    forward, back, weight = layout.of(FORWARD), layout.of(BACKWARD), layout.of(WEIGHT)
    held = forced.copy()
    held[np.arange(len(place)), place] += 1
    # Where a backward takes more for W than it gives back, having it over as well as its W to come weighs least.
    for column in back.tolist():
        if pool.released[column] < 0:
            partner = weight[layout.stage[weight] == layout.stage[column]]
            held[:, column] = np.maximum(held[:, column], held[:, partner].max(axis=1, initial=0))
    need = (
        pool.beside[place] + held[:, back] @ pool.released[back] + held[:, weight] @ pool.released[weight] - pool.room
    )
    need -= forced[:, forward] @ pool.taken[forward]
    most_taken = int(pool.taken[forward].max())
    later = (layout.kind[place] == FORWARD)[:, None] & (layout.stage[forward] > layout.stage[place][:, None])
    limit = np.where(later, index[:, None] + 1, index[:, None])
    asks = (layout.durations[place] > 0) & (need > 0)
    count = -(-need // most_taken)
    operation = np.flatnonzero(asks & (count <= np.maximum(limit - forced[:, forward], 0).sum(axis=1)))
    if not len(operation):
        return None
    return Demand(operation, (Choice(forward, limit, count[operation], int(layout.durations[forward].min())),))
