"""The arcs that fix every time once the orders are given: precedences, and neighbours in each order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Orders


class Graph:
    """Successors of every operation with the lag to each, and how many arcs enter it.

    Attributes
    ----------
    successors
        Per operation, pairs (operation, lag_ns).
    entering
        Per operation, the number of arcs that enter it.
    """

    def __init__(self, problem: Problem, orders: Orders | None = None) -> None:
        count = len(problem.operations)
        before, after, lag = problem.precedences.before, problem.precedences.after, problem.precedences.lag_ns
        if orders is not None:
            check_coverage(problem, orders.sequences)
            tails = [sequence[:-1] for sequence in orders.sequences]
            heads = [sequence[1:] for sequence in orders.sequences]
            added = sum(len(tail) for tail in tails)
            before = np.concatenate([before, *tails])
            after = np.concatenate([after, *heads])
            lag = np.concatenate([lag, np.zeros(added, dtype=np.int64)])
        self.entering: list[int] = np.bincount(after, minlength=count).tolist()
        order = np.argsort(before, kind="stable")
        edges = np.searchsorted(before[order], np.arange(count + 1)).tolist()
        pairs = list(zip(after[order].tolist(), lag[order].tolist(), strict=True))
        self.successors: list[list[tuple[int, int]]] = [pairs[edges[u] : edges[u + 1]] for u in range(count)]


def check_coverage(problem: Problem, sequences: Sequence[IntArray]) -> None:
    """Require that each resource's order holds exactly its operations, once each.

    Raises
    ------
    ValueError
        If an order misses an operation, repeats one or holds a foreign one.
    """
    if len(sequences) != problem.resources:
        raise ValueError(f"{problem.resources} orders are needed, {len(sequences)} were given")
    for resource, sequence in enumerate(sequences):
        if not np.array_equal(np.sort(sequence), problem.by_resource[resource]):
            raise ValueError(f"the order of {problem.resource_name(resource)} does not hold exactly its operations")


def topological(graph: Graph) -> list[int]:
    """Order operations such that every arc leads to a later one; what waits in a circle is left out."""
    waiting = list(graph.entering)
    order = [operation for operation, entering in enumerate(waiting) if entering == 0]
    for operation in order:
        for v, _ in graph.successors[operation]:
            waiting[v] -= 1
            if waiting[v] == 0:
                order.append(v)
    return order


def find_cycle(graph: Graph, waiting: list[int]) -> tuple[int, ...]:
    """Find operations that wait for each other in a circle among those whose `waiting` count is above zero."""
    stuck = {operation for operation, count in enumerate(waiting) if count > 0}
    predecessor = {v: u for u in stuck for v, _ in graph.successors[u] if v in stuck}
    here = next(iter(predecessor.values()))
    seen: dict[int, int] = {}
    path: list[int] = []
    while here not in seen:
        seen[here] = len(path)
        path.append(here)
        here = predecessor[here]
    return tuple(reversed(path[seen[here] :]))
