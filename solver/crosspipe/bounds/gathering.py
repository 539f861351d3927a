"""Extra operations wait for whole loads: what one device must have done before, or has left to do after.

An extra operation that waits for several operations of one device starts after all of them and all that these wait for
there. They run one at a time, so the last ends no earlier than `t + (work released at t or later)`, for any t (heads
are release times). Mirrored, what must follow on a device takes at least `t + (work whose tail is t or more)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosspipe.problem.problem import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.bounds.graph import Graph, Step

    IntArray = NDArray[np.int64]

MOST = 248
"""Extra operations looked at, of those next to compute. The rest keep their longest paths, which hold as well."""

WORD = 62
"""Of these, how many are looked at together: one bit of a word each."""


@dataclass(frozen=True, slots=True, eq=False)
class Gathering:
    """Sets of operations, one per device, that all precede (`ahead`) or all follow (`behind`) one operation."""

    ahead: tuple[IntArray, ...]
    behind: tuple[IntArray, ...]

    def after(self, head: NDArray[Any], durations: NDArray[Any]) -> int:
        """Earliest start of the operation, from the heads of what comes before it."""
        return max((_last_end(head[rows], durations[rows]) for rows in self.ahead), default=0)

    def before(self, tail: NDArray[Any], durations: NDArray[Any]) -> int:
        """Least time after its end, from the tails of what comes behind it."""
        return max((_last_end(tail[rows], durations[rows]) for rows in self.behind), default=0)


def gatherings(graph: Graph) -> dict[int, Gathering]:
    """Find, for each extra operation, the loads of the devices that it waits for or that wait for it."""
    problem = graph.problem
    compute = problem.operations.kind <= Kind.BW
    beside = {*graph.after[compute[graph.before]].tolist(), *graph.before[compute[graph.after]].tolist()}
    extras = [number for _, number in problem.extras if number in beside][:MOST]
    words = [extras[first : first + WORD] for first in range(0, len(extras), WORD)]
    return {op: gathering for word in words for op, gathering in _gatherings(graph, word).items()}


def _gatherings(graph: Graph, extras: list[int]) -> dict[int, Gathering]:
    reached_by = _marks(graph.forward, extras, len(graph.durations))
    reaches = _marks(graph.backward, extras, len(graph.durations))
    return {
        op: Gathering(
            _by_device(graph, graph.before[graph.after == op], (reaches >> bit) & 1),
            _by_device(graph, graph.after[graph.before == op], (reached_by >> bit) & 1),
        )
        for bit, op in enumerate(extras)
    }


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


def _last_end(release: NDArray[Any], durations: NDArray[Any]) -> int:
    """Largest `t + work released at t or later`; operations without a path to what is asked for do not count."""
    counted = release >= 0
    release, durations = release[counted], durations[counted]
    if not len(release):
        return 0
    order = np.argsort(-release, kind="stable")
    return int((release[order] + np.cumsum(durations[order])).max())
