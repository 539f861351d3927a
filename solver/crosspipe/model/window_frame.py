"""What surrounds a window of time in a schedule: releases from before it, tails from after it.

What starts before the window is fixed and releases what follows it. What starts after it keeps its order and is folded
into tails: tail(v) is the longest path from the end of v through the later part, entered by a precedence or by the
first later operation of v's resource. Every path ends at an operation of a device, where the time counts from `begin`
of that device: 0 for the makespan, its first start for the span. So the value is exactly the largest end + tail over
the window, or a path that does not meet the window; no less where lanes have windows of their own, which tails do not
see (`window_latest` does).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.problem import Objective
from crosspipe.schedule.graph import Graph
from crosspipe.schedule.measure import compute_rows

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

NEVER = -(2**60)
"""Tail of what the value does not depend on."""


class Frame:
    """A window [start_ns, end_ns) of a schedule, times in nanoseconds.

    Attributes
    ----------
    inside
        Operations that start in the window.
    is_inside, is_before, is_after
        The same and the others, as masks.
    graph
        The arcs of problem and orders.
    release
        Earliest start of each window operation.
    tail
        Of each window operation.
    value_ns
        Value of the schedule, in the units of `end + tail`.
    fixed_ns
        Longest path that does not meet the window.
    """

    def __init__(self, problem: Problem, schedule: Schedule, objective: Objective, window_ns: tuple[int, int]) -> None:
        start = schedule.start_ns
        self.is_before, self.is_after = start < window_ns[0], start >= window_ns[1]
        self.is_inside = ~(self.is_before | self.is_after)
        self.inside: list[int] = np.flatnonzero(self.is_inside).tolist()
        begin, late = _begins(problem, schedule, objective)
        self.value_ns = int((schedule.end_ns + late).max())
        graph = self.graph = Graph(problem, schedule.orders)
        through = self._through(problem, schedule, graph, late)
        self.tail = self._tails(problem, schedule, graph, through, late)
        self.fixed_ns = self._fixed(schedule, graph, through, late)
        self.release = self._releases(schedule, graph, begin, window_ns[0])

    def _through(self, problem: Problem, schedule: Schedule, graph: Graph, late: IntArray) -> dict[int, int]:
        """Longest path through each later operation, its own duration included."""
        duration: list[int] = problem.operations.duration_ns.tolist()
        base: list[int] = late.tolist()
        later = np.flatnonzero(self.is_after)
        order = later[np.lexsort((-schedule.end_ns[later], -schedule.start_ns[later]))]
        through: dict[int, int] = {}
        for v in order.tolist():
            rest = max((lag + through[w] for w, lag in graph.successors[v] if w in through), default=NEVER)
            through[v] = duration[v] + max(rest, base[v])
        return through

    def _tails(
        self, problem: Problem, schedule: Schedule, graph: Graph, through: dict[int, int], late: IntArray
    ) -> dict[int, int]:
        first = [
            next((through[v] for v in sequence[self.is_after[sequence]][:1].tolist()), NEVER)
            for sequence in schedule.orders.sequences
        ]
        tail = {}
        for v in self.inside:
            resource = int(problem.operations.resource[v])
            rest = max((lag + through[w] for w, lag in graph.successors[v] if w in through), default=NEVER)
            tail[v] = max(rest, int(late[v]), first[resource] if resource >= 0 else NEVER)
        return tail

    def _fixed(self, schedule: Schedule, graph: Graph, through: dict[int, int], late: IntArray) -> int:
        longest = 0
        for u in np.flatnonzero(self.is_before).tolist():
            rest = max((lag + through[w] for w, lag in graph.successors[u] if w in through), default=NEVER)
            longest = max(longest, int(schedule.end_ns[u]) + max(rest, int(late[u])))
        return longest

    def _releases(self, schedule: Schedule, graph: Graph, begin: IntArray, origin: int) -> dict[int, int]:
        release = {v: max(origin, int(begin[v])) for v in self.inside}
        ends: list[int] = schedule.end_ns.tolist()
        for u in np.flatnonzero(self.is_before).tolist():
            for w, lag in graph.successors[u]:
                if w in release:
                    release[w] = max(release[w], ends[u] + lag)
        for sequence in schedule.orders.sequences:
            done = sequence[self.is_before[sequence]]
            if len(done):
                for v in sequence[self.is_inside[sequence]].tolist():
                    release[v] = max(release[v], ends[done[-1]])
        return release


def _begins(problem: Problem, schedule: Schedule, objective: Objective) -> tuple[IntArray, IntArray]:
    """Per operation, the time from which its device is held, and what its end counts for more (NEVER if for nothing).

    For the makespan both are 0. For the span, device d has its first start S(d) fixed, and `end - S(d) + largest S` of
    compute is the span up to a constant.
    """
    begin = np.zeros(len(problem.operations), dtype=np.int64)
    late = np.zeros(len(problem.operations), dtype=np.int64)
    if objective is Objective.SPAN:
        late[:] = NEVER
        held = [rows for rows in compute_rows(problem, schedule) if len(rows)]
        firsts = [int(schedule.start_ns[rows].min()) for rows in held]
        for rows, first in zip(held, firsts, strict=True):
            begin[rows], late[rows] = first, max(firsts) - first
    return begin, late
