"""Precedences that limited memory forces between microbatches.

They hold where every class (stage and kind) runs its microbatches in index order: because the spec fixes it, or because
microbatches are identical, where index order loses nothing (sort the start times of each class: the set of busy
intervals and the number of operations started and ended by any time stay as they are). Write, for one pool of a device
with room C (capacity less static), stage s and microbatch i:

    a_i   taken by F, given back by the backward or later;  w_i the part of it kept until the end of W,
    x_i   taken by the backward and kept until the end of W,
    A_i   a_i of stage s and of all earlier stages on the device: held from F_s(i) to the backward of s, because the
          earlier stages' forwards are done and their backwards cannot have begun.

1. When F(j) starts, F(0..j) have started. Microbatches whose backward has not ended hold A_i each. If the sum of A_i
   over b <= i <= j exceeds C for b = b' - 1 but not for b = b', the backward of b' - 1 has ended: F(j) waits for it.
2. When F(j) starts, its own backward has not run (A_j held) and each i < j whose W has not ended holds at least
   min(a_i, w_i + x_i), before or after its backward. So F(j) waits for the W that brings the sum down to C.
3. When the backward of j starts, those of i < j have ended; each whose W has not ended holds w_i + x_i, and j itself
   A_j + x_j and whatever the operation takes for itself. So it waits for the W that brings the sum down to C.

The moment just after the start is what counts: F takes time, and so must the backward in 3 (else rule 3 is left out),
as what is given back at a moment makes room for what is taken then. With K = floor(C/a) and identical microbatches, 1
reads F(j+K) >= end B(j).

4. Identical microbatches, a next stage t on the same device with a_t > C - K A_s, K = floor(C/A_s) >= 2: F_s(j+K-1)
   waits for the end of the backward of t for j. Suppose that backward has not ended when F_s(j+K-1) starts. Then K
   microbatches j..j+K-1 hold A_s each, and nothing but the backwards of t can lower that. F_t(j) finds no room and
   never will if it has not run; if it has, its a_t is still held and K A_s + a_t exceeds C.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from crosspipe.bounds.exact import exact, total_of
from crosspipe.bounds.stage_memory import backward_kind
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from crosspipe.bounds.stage_memory import StageMemory
    from crosspipe.problem.problem import Problem

    IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MemoryOrder:
    """Pairs of operations: `after[i]` starts no earlier than `before[i]` ends."""

    before: IntArray
    after: IntArray


def ordered_classes(problem: Problem) -> frozenset[tuple[int, int, int]]:
    """Classes (kind, replica, stage) that run all their microbatches in index order, or may be taken to."""
    ops = problem.operations
    firsts = [int(chain[0]) for chain in problem.chains if len(chain) == problem.microbatches]
    return frozenset((int(ops.kind[i]), int(ops.replica[i]), int(ops.stage[i])) for i in firsts)


def gradients_flow(problem: Problem) -> bool:
    """Whether every stage from the first trainable one on has a backward, so that backwards run from last to first."""
    trainable = [backward_kind(problem, stage) is not None for stage in range(len(problem.stages))]
    return trainable == sorted(trainable)


def held_below(memories: Iterable[StageMemory], stage: StageMemory) -> IntArray:
    """A_i of the module's text: what each microbatch holds of the pool while it waits for its backward on `stage`."""
    return sum(
        (m.activation for m in memories if m.stage < stage.stage and m.backward is not None),
        start=stage.activation,
    )


def memory_order(problem: Problem, memories: Sequence[StageMemory]) -> MemoryOrder:
    """Find the precedences that limited pools force; none from a pool that cannot hold a microbatch at all."""
    if not gradients_flow(problem):
        return MemoryOrder(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    ordered = ordered_classes(problem)
    pairs: list[tuple[IntArray, IntArray]] = []
    for pool, group in _by_pool(memories).items():
        if problem.pools[pool].capacity is None:
            continue
        for memory, upper in zip_longest(group, group[1:]):
            waiting = held_below(group, memory)
            pairs += _stage_pairs(problem, ordered, memory, waiting)
            if upper is not None:
                pairs += _dead_end(problem, ordered, memory, upper, waiting)
    empty = np.zeros(0, dtype=np.int64)
    return MemoryOrder(
        np.concatenate([empty, *(before for before, _ in pairs)]),
        np.concatenate([empty, *(after for _, after in pairs)]),
    )


def _by_pool(memories: Sequence[StageMemory]) -> dict[int, list[StageMemory]]:
    groups: dict[int, list[StageMemory]] = {}
    for memory in memories:
        groups.setdefault(memory.pool, []).append(memory)
    return groups


def _stage_pairs(
    problem: Problem, ordered: frozenset[tuple[int, int, int]], memory: StageMemory, waiting: IntArray
) -> list[tuple[IntArray, IntArray]]:
    if memory.backward is None or memory.room is None:
        return []
    rows = {
        kind: problem.numbers[kind, memory.replica, memory.stage]
        for kind in (Kind.F, memory.backward, Kind.W)
        if (kind, memory.replica, memory.stage) in ordered
    }
    if Kind.F not in rows or memory.backward not in rows or not memory.takes_time[Kind.F].all():
        return []
    forward, backward = rows[Kind.F], rows[memory.backward]
    pairs = [_pairs(backward, forward, waiting, waiting * 0, memory.room - memory.forward_only, own=True)]
    if Kind.W in rows:
        after_backward = memory.until_weight + memory.extra_until_weight
        least = np.minimum(memory.activation, after_backward)
        pairs.append(_pairs(rows[Kind.W], forward, least, waiting, memory.room - memory.forward_only, own=False))
        if memory.takes_time[memory.backward].all():
            taken = waiting + memory.extra_until_weight + memory.extra_backward
            room = np.full(len(taken), memory.room, dtype=np.int64)
            pairs.append(_pairs(rows[Kind.W], backward, after_backward, taken, room, own=False))
    return pairs


def _dead_end(
    problem: Problem,
    ordered: frozenset[tuple[int, int, int]],
    lower: StageMemory,
    upper: StageMemory,
    waiting: IntArray,
) -> list[tuple[IntArray, IntArray]]:
    """Rule 4 of the module's text, `lower` being s and `upper` t."""
    replica, room = lower.replica, lower.room
    if not (lower.takes_time[Kind.F].all() and upper.takes_time[Kind.F].all()):
        return []
    if not problem.identical or room is None or lower.backward is None or upper.backward is None or waiting[0] == 0:
        return []
    classes = [
        (Kind.F, lower.stage),
        (Kind.F, upper.stage),
        (lower.backward, lower.stage),
        (upper.backward, upper.stage),
    ]
    if any((kind, replica, stage) not in ordered for kind, stage in classes):
        return []
    most = room // int(waiting[0])
    if most < 2 or most > problem.microbatches or room - most * int(waiting[0]) >= int(upper.activation[0]):
        return []
    last = problem.microbatches - most + 1
    forward = problem.numbers[Kind.F, replica, lower.stage]
    return [(problem.numbers[upper.backward, replica, upper.stage][:last], forward[most - 1 :])]


def _pairs(
    before: IntArray, after: IntArray, held: IntArray, taken: IntArray, room: IntArray, *, own: bool
) -> tuple[IntArray, IntArray]:
    """Let after[j] wait for before[b - 1], b least with `sum(held[b..j]) + taken[j] <= room[j]`; with j if `own`."""
    m = len(held)
    total = total_of(held) + int(taken.max(initial=0)) + int(np.abs(room).max(initial=0))
    sums: NDArray[Any] = np.concatenate([[0], np.cumsum(exact(held, total))])
    upto = sums[1:] if own else sums[:-1]
    first = np.searchsorted(sums, upto + exact(taken, total) - exact(room, total), side="left").astype(np.int64)
    index = np.arange(m)
    valid = (first > 0) & (first <= index)
    # A microbatch that does not fit even alone would have to wait for itself: no order, but an obstacle.
    if (first > index).any():
        valid[:] = False
    return before[first[valid] - 1], after[valid]
