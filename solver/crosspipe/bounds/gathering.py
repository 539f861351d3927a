"""Operations that wait for whole loads: what one device or lane must have done before, or has left to do after.

An extra operation that waits for several operations of one device starts after all of them and all that these wait for
there. They run one at a time, so the last ends no earlier than `t + (work released at t or later)`, for any t (heads
are release times). Mirrored, what must follow on a device takes at least `t + (work whose tail is t or more)`.

So does a backward of the last stage (a turn) wait for all gathers that a lane carries, since every F of its microbatch
comes before; and every reduce on that lane comes behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.bounds.graph import Graph, Step
    from crosspipe.problem.problem import Problem

    IntArray = NDArray[np.int64]

MOST = 248
"""Extra operations looked at, of those next to compute. The rest keep their longest paths, which hold as well."""

FEW = 8
"""Unlike microbatches whose backward on the last stage is looked at."""

WORD = 62
"""Of these, how many are looked at together: one bit of a word each."""


@dataclass(frozen=True, slots=True, eq=False)
class Gathering:
    """Sets of operations, one per device or lane, that all precede (`ahead`) or all follow (`behind`) one operation."""

    ahead: tuple[IntArray, ...]
    behind: tuple[IntArray, ...]

    def after(self, head: NDArray[Any], durations: NDArray[Any], known: int) -> int:
        """Earliest start of the operation, from the heads of what comes before it; `known` is what is known of it."""
        return max([known, *(_last_end(head[rows], durations[rows], known) for rows in self.ahead)])

    def before(self, tail: NDArray[Any], durations: NDArray[Any], known: int) -> int:
        """Least time after its end, likewise; below zero as `known` where nothing behind it is asked for."""
        return max([known, *(_last_end(tail[rows], durations[rows], known) for rows in self.behind)])


def gatherings(graph: Graph) -> dict[int, Gathering]:
    """Find, for extra operations and turns, the loads of devices or lanes that they wait for or that wait for them."""
    problem = graph.problem
    if not problem.extras:
        return {}
    kind = problem.operations.kind
    compute, extra = kind <= Kind.BW, kind == Kind.EXTRA
    waiting = graph.after[compute[graph.before] & extra[graph.after]]
    awaited = graph.before[extra[graph.before] & compute[graph.after]]
    beside = {*waiting.tolist(), *awaited.tolist()}
    extras = [number for _, number in problem.extras if number in beside][:MOST]
    marked = [*extras, *turns(problem)]
    words = [marked[first : first + WORD] for first in range(0, len(marked), WORD)]
    return {op: gathering for word in words for op, gathering in _gatherings(graph, word).items()}


def turns(problem: Problem) -> list[int]:
    """Backwards of the last stage: of the first microbatch where they are alike, of a few where they are not."""
    table = problem.numbers[[Kind.B, Kind.BW], :, -1]
    rows = table[:, :, :1] if problem.identical else table[:, :, :FEW]
    return [int(number) for number in rows.ravel() if number >= 0]


def _gatherings(graph: Graph, marked: list[int]) -> dict[int, Gathering]:
    reached_by = _marks(graph.forward, marked, len(graph.durations))
    reaches = _marks(graph.backward, marked, len(graph.durations))
    kind = graph.problem.operations.kind
    found = {}
    for bit, op in enumerate(marked):
        ahead, behind = (reaches >> bit) & 1, (reached_by >> bit) & 1
        if kind[op] == Kind.EXTRA:
            before, after = graph.before[graph.after == op], graph.after[graph.before == op]
            found[op] = Gathering(_by_device(graph, before, ahead), _by_device(graph, after, behind))
        else:
            found[op] = Gathering(_by_lane(graph, ahead), _by_lane(graph, behind))
    return found


def _marks(steps: tuple[Step, ...], marked: list[int], count: int) -> IntArray:
    """Bit k of each operation: whether a path of edges joins it to `marked[k]`."""
    marks = np.zeros(count, dtype=np.int64)
    marks[marked] = 1 << np.arange(len(marked), dtype=np.int64)
    for step in steps:
        marks[step.targets] |= np.bitwise_or.reduceat(marks[step.others], step.offsets)
    marks[marked] &= ~(1 << np.arange(len(marked), dtype=np.int64))
    return marks


def _by_device(graph: Graph, neighbours: IntArray, member: IntArray) -> tuple[IntArray, ...]:
    ops = graph.problem.operations
    devices = np.unique(ops.resource[neighbours[ops.kind[neighbours] <= Kind.BW]])
    return tuple(np.flatnonzero((member == 1) & (ops.resource == device)) for device in devices if device >= 0)


def _by_lane(graph: Graph, member: IntArray) -> tuple[IntArray, ...]:
    """Split by the lanes that carry extra operations."""
    ops, first = graph.problem.operations, len(graph.problem.devices)
    lanes = np.unique(ops.resource[(ops.kind == Kind.EXTRA) & (ops.resource >= first)])
    return tuple(np.flatnonzero((member == 1) & (ops.resource == lane)) for lane in lanes)


def _last_end(release: NDArray[Any], durations: NDArray[Any], least: int) -> int:
    """Largest `t + work released at t or later`, `least` for no work.

    Operations without a path to what is asked for do not count.
    """
    counted = release >= 0
    release, durations = release[counted], durations[counted]
    if not len(release):
        return least
    order = np.argsort(-release, kind="stable")
    return int((release[order] + np.cumsum(durations[order])).max())
