"""Heads and tails: how early each operation can start, and how much must follow its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from crosspipe.model.arcs import Arcs
    from crosspipe.problem.operations import IntArray


def heads(duration: IntArray, arcs: Arcs, order: IntArray) -> IntArray:
    """Earliest start of each operation: the longest path of arcs to it, in ticks.

    Parameters
    ----------
    duration
        Per operation.
    arcs
        All arcs known.
    order
        Operation numbers such that every arc points forward.
    """
    return _longest(arcs.before, arcs.after, arcs.length, order, np.zeros_like(duration))


def tails(duration: IntArray, arcs: Arcs, order: IntArray) -> IntArray:
    """Ticks that pass at least from the end of each operation to the end of the schedule: the longest path after it.

    Of an arc, `end(before) <= end(after) - (length - duration(before) + duration(after))`.
    """
    length = arcs.length - duration[arcs.before] + duration[arcs.after]
    return _longest(arcs.after, arcs.before, length, order[::-1], np.zeros_like(duration))


def _longest(before: IntArray, after: IntArray, length: IntArray, order: IntArray, least: IntArray) -> IntArray:
    """Longest path to each operation, along an order in which every arc points forward."""
    by_before = np.argsort(before, kind="stable")
    edges = np.searchsorted(before[by_before], np.arange(len(least) + 1)).tolist()
    ends, lengths = after[by_before].tolist(), length[by_before].tolist()
    reach = least.tolist()
    for operation in order.tolist():
        base = reach[operation]
        for arc in range(edges[operation], edges[operation + 1]):
            reach[ends[arc]] = max(reach[ends[arc]], base + lengths[arc])
    return np.array(reach, dtype=np.int64)
