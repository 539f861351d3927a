"""Extra operations that may be exchanged, as the pieces of one reduction may."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    from crosspipe.problem.problem import Problem


def likeness(problem: Problem) -> dict[int, Hashable]:
    """Tell by equal values which extra operations may be exchanged: same time and place, same waits either way.

    Some best schedule runs such operations in the order of their numbers, as exchanging two of them changes nothing
    else. What holds memory is like nothing else.
    """
    ops, waits, due = problem.operations, problem.precedences, problem.due_ns
    around: dict[int, list[tuple[int, int, int]]] = {number: [] for _, number in problem.extras}
    for before, after, lag in zip(waits.before.tolist(), waits.after.tolist(), waits.lag_ns.tolist(), strict=True):
        if before in around:
            around[before].append((1, after, lag))
        if after in around:
            around[after].append((0, before, lag))
    holding = {*problem.holdings.taken_by.tolist(), *problem.holdings.given_by.tolist()}
    return {
        number: number
        if number in holding
        else (
            int(ops.duration_ns[number]),
            int(ops.resource[number]),
            0 if due is None else int(due[number]),
            tuple(sorted(rows)),
        )
        for number, rows in around.items()
    }


def twins(problem: Problem) -> list[list[int]]:
    """Group extra operations that occupy something and may be exchanged, ascending; groups of one are left out."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, like in likeness(problem).items():
        if problem.operations.resource[number] >= 0:
            groups[like].append(number)
    return [sorted(group) for group in groups.values() if len(group) > 1]
