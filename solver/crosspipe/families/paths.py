"""Longest paths along precedences alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Arcs = list[list[tuple[int, int]]]
"""Per operation, pairs (operation that waits for it, lag)."""


def heads_ns(duration: Sequence[int], successors: Arcs, waits: Sequence[int]) -> list[int]:
    """Find the earliest start of each operation."""
    head = [0] * len(duration)
    for op in _in_order(successors, waits):
        end = head[op] + duration[op]
        for after, lag in successors[op]:
            head[after] = max(head[after], end + lag)
    return head


def tails_ns(duration: Sequence[int], successors: Arcs, waits: Sequence[int]) -> list[int]:
    """Find the longest way from the end of each operation to the end of the step."""
    tail = [0] * len(duration)
    for op in reversed(_in_order(successors, waits)):
        if ways := successors[op]:
            tail[op] = max(lag + duration[after] + tail[after] for after, lag in ways)
    return tail


def _in_order(successors: Arcs, waits: Sequence[int]) -> list[int]:
    """List operations so that each stands after all that it waits for."""
    left = list(waits)
    order = [op for op, count in enumerate(left) if count == 0]
    for op in order:
        for after, _ in successors[op]:
            left[after] -= 1
            if left[after] == 0:
                order.append(after)
    return order
