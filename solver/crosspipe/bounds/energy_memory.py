"""What limited memory asks for beside what must run in any case: the cases of `energy.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.bounds.exact import LARGEST
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.stage_memory import StageMemory
    from crosspipe.problem.operations import IntArray

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
class Layout:
    """Classes of one device: `kind` (FORWARD, BACKWARD, WEIGHT), stage, operation numbers and duration of each."""

    kind: IntArray
    stage: IntArray
    rows: IntArray
    durations: IntArray

    def of(self, kind: int) -> IntArray:
        """Places of the classes of a kind."""
        return np.flatnonzero(self.kind == kind)


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Amounts of one pool per class of a device.

    F takes `taken` until the end of the backward or of W; the end of the backward gives back `released` (less what the
    backward took for W), that of W too. `beside` is what an operation takes for itself while it runs, all that the
    backward takes counted.
    """

    room: int
    taken: IntArray
    released: IntArray
    beside: IntArray

    def largest(self, microbatches: int) -> int:
        """Bound any sum of amounts of so many microbatches."""
        each = sum(sum(map(abs, amounts.tolist())) for amounts in (self.taken, self.released, self.beside))
        return abs(self.room) + (microbatches + 1) * each


def pools_of(graph: Graph, layout: Layout, device: int) -> list[Pool]:
    """List the limited pools in which every F takes time, so that what it takes is held when it starts.

    A pool whose sums would not fit 64 bits is left out, which weakens the bound and no more.
    """
    groups: dict[int, list[StageMemory]] = {}
    for memory in graph.memories:
        if memory.device == device and memory.room is not None:
            groups.setdefault(memory.pool, []).append(memory)
    found = [_pool(layout, group) for group in groups.values() if all(m.takes_time[Kind.F].all() for m in group)]
    width = layout.rows.shape[1]
    return [pool for pool in found if pool.taken.any() and pool.largest(width) <= LARGEST]


def _pool(layout: Layout, group: Sequence[StageMemory]) -> Pool:
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
    return Pool(int(group[0].room or 0), taken, released, beside)


def _own(layout: Layout) -> tuple[IntArray, IntArray]:
    """Class and index of every place."""
    count, width = layout.rows.shape
    return np.repeat(np.arange(count), width), np.tile(np.arange(width), count)


def released_before(layout: Layout, forced: IntArray, pool: Pool) -> Demand | None:
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


def taken_after(layout: Layout, forced: IntArray, pool: Pool) -> Demand | None:
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
