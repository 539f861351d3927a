"""The second pass for the span objective: the same orders, first operations delayed as far as it pays.

With the orders fixed, start times obey difference constraints, and "device d is held for at most T" is one more:
start(first of d) >= end(last of d) - T. Let D[d, e] be the longest path from the start of d's first operation to the
end of e's last. A cycle d -> e -> ... -> d over k devices closes if the sum of D along it is at most k T, so the
smallest T is the largest cycle mean of D (rounded up, times being integers), found by Karp's recurrence (1978). The
earliest times under that T are then one longest-path computation. Windows make waiting depend on the time of day, so
there T is found by bisection instead, each T tried by raising releases until nothing moves.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.schedule.graph import Graph
from crosspipe.schedule.measure import compute_rows, span_ns
from crosspipe.schedule.replay import resolved, run

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

UNREACHED = -(2**62)
"""Stands for "no path" in the longest-path matrices; no sum of real times comes near it."""

MOST_BISECTIONS = 40
MOST_REPLAYED = 150_000
"""With windows, operations replayed in all: a long schedule is refined less finely, each try taking several replays."""


def delay_for_span(problem: Problem, schedule: Schedule) -> Schedule:
    """Return the same orders with the smallest largest span (never a larger one)."""
    problem = resolved(problem, schedule.orders)
    graph = Graph(problem, schedule.orders)
    held = [rows for rows in compute_rows(problem, schedule) if len(rows)]
    first, last = (np.array([rows[i] for rows in held], dtype=np.int64) for i in (0, -1))
    if problem.windowed:
        busiest = max(int(problem.operations.duration_ns[rows].sum()) for rows in held)
        return _bisect(problem, schedule, graph, (first, last), busiest)
    to_start, to_end = _longest_paths(problem, graph, first, last)
    target = _largest_cycle_mean(to_end)
    releases = _earliest_firsts(schedule, to_start, to_end, target, (first, last))
    release_ns = np.zeros(len(problem.operations), dtype=np.int64)
    release_ns[first] = releases
    delayed = run(problem, schedule.orders, graph, release_ns)
    return min(schedule, delayed, key=lambda candidate: span_ns(problem, candidate))


def _longest_paths(problem: Problem, graph: Graph, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """Longest paths from the start of each first operation to the start of each first and the end of each last."""
    count = len(problem.operations)
    start = np.full((count, len(first)), UNREACHED, dtype=np.int64)
    start[first, np.arange(len(first))] = 0
    duration: list[int] = problem.operations.duration_ns.tolist()
    waiting = list(graph.entering)
    todo = [operation for operation, entering in enumerate(waiting) if entering == 0]
    while todo:
        operation = todo.pop()
        for successor, lag in graph.successors[operation]:
            np.maximum(start[successor], start[operation] + (duration[operation] + lag), out=start[successor])
            waiting[successor] -= 1
            if waiting[successor] == 0:
                todo.append(successor)
    start[start < 0] = UNREACHED
    to_end = start[last] + problem.operations.duration_ns[last][:, None]
    to_end[start[last] == UNREACHED] = UNREACHED
    return start[first].T, to_end.T


def _largest_cycle_mean(weight: IntArray) -> int:
    """Largest mean weight of a cycle in a dense graph, rounded up (Karp 1978); weight[i, j] of the arc i -> j."""
    size = len(weight)
    if int(weight.max()) * size >= -UNREACHED:
        weight = weight.astype(object)  # sums along `size` arcs may leave 64 bits
    best = [np.zeros(size, dtype=weight.dtype)]
    for _ in range(size):
        sums = best[-1][:, None] + weight
        sums[(best[-1][:, None] == UNREACHED) | (weight == UNREACHED)] = UNREACHED
        best.append(sums.max(axis=0))
    means = [
        min(
            Fraction(int(best[size][node] - best[steps][node]), size - steps)
            for steps in range(size)
            if best[steps][node] != UNREACHED
        )
        for node in range(size)
        if best[size][node] != UNREACHED
    ]
    return math.ceil(max(means))


def _earliest_firsts(
    schedule: Schedule, to_start: IntArray, to_end: IntArray, target: int, ends: tuple[IntArray, IntArray]
) -> IntArray:
    """Earliest start of each device's first operation when no device is held for longer than `target`."""
    first, last = ends
    arcs = np.maximum(to_start, np.where(to_end == UNREACHED, UNREACHED, to_end - target))
    starts = np.maximum(schedule.start_ns[first], schedule.end_ns[last] - target)
    for _ in range(len(first) + 1):
        reached = starts[:, None] + arcs
        reached[arcs == UNREACHED] = UNREACHED
        later = np.maximum(starts, reached.max(axis=0))
        if np.array_equal(later, starts):
            break
        starts = later
    return starts


def _bisect(problem: Problem, schedule: Schedule, graph: Graph, ends: tuple[IntArray, IntArray], low: int) -> Schedule:
    best, high = schedule, span_ns(problem, schedule)
    replays = max(MOST_REPLAYED // len(problem.operations), len(ends[0]))
    for _ in range(MOST_BISECTIONS):
        if low >= high or replays <= 0:
            break
        target = (low + high) // 2
        rounds = min(2 * len(ends[0]) + 2, replays)
        # What waits for one target waits at least as long for a lower one.
        found, used = _within(problem, best, graph, ends, target, rounds)
        replays -= used
        if found is None:
            low = target + 1
        else:
            best, high = found, min(target, span_ns(problem, found))
    return best


def _within(
    problem: Problem, schedule: Schedule, graph: Graph, ends: tuple[IntArray, IntArray], target: int, rounds: int
) -> tuple[Schedule | None, int]:
    """Delay until no device is held for longer than `target`; None if that takes too many replays, and their number."""
    first, last = ends
    release_ns = np.zeros(len(problem.operations), dtype=np.int64)
    release_ns[first] = schedule.start_ns[first]
    current = schedule
    for used in range(rounds):
        late = current.end_ns[last] - target
        if (current.start_ns[first] >= late).all():
            return current, used
        release_ns[first] = np.maximum(current.start_ns[first], late)
        current = run(problem, schedule.orders, graph, release_ns)
    return None, rounds
