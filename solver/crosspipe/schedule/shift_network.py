"""What the start times t of given orders must keep so that no value grows: difference constraints t(v) - t(u) >= w.

Precedences and neighbours in the orders; ends by the makespan, by the largest span of any device where the span counts,
and by deadlines; chains where they are required. Transfers on lanes with windows stay where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.problem.operations import NO_DEADLINE
from crosspipe.problem.problem import Objective
from crosspipe.schedule.graph import topological
from crosspipe.schedule.measure import compute_rows, makespan_ns, span_ns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.graph import Graph
    from crosspipe.schedule.orders import Schedule

Arc = tuple[int, int, int]
"""Operations u and v (or the root, which stands for time 0) and w: `t(v) - t(u) >= w`."""


class Network:
    """The constraints on the times of the orders of a schedule.

    Attributes
    ----------
    root
        Number of the node that stands for time 0.
    arcs
        All constraints.
    size
        How many there are.
    """

    def __init__(self, problem: Problem, schedule: Schedule, objective: Objective, graph: Graph) -> None:
        self._successors = graph.successors
        self.root = len(problem.operations)
        # A lane may be slower at times; what is there stays there.
        self._lengths: list[int] = (schedule.end_ns - schedule.start_ns).tolist()
        self._pinned = {
            operation
            for number, lane in enumerate(problem.lanes)
            if lane.windows
            for operation in problem.by_resource[len(problem.devices) + number].tolist()
        }
        self._latest = _latest_ends(problem, makespan_ns(schedule))
        self._starts: list[int] = schedule.start_ns.tolist()
        self._held: list[tuple[int, int]] = []
        self._span = 0
        if objective is Objective.SPAN:
            rows = [rows for rows in compute_rows(problem, schedule) if len(rows)]
            self._held = [(int(row[0]), int(row[-1])) for row in rows]
            self._span = span_ns(problem, schedule)
        self._order = topological(graph)
        self.arcs = list(self._all_arcs(problem, graph))
        self.size = len(self.arcs)

    def _all_arcs(self, problem: Problem, graph: Graph) -> Iterator[Arc]:
        for u, successors in enumerate(self._successors):
            for v, lag in successors:
                yield u, v, self._lengths[u] + lag
        for operation, entering in enumerate(graph.entering):
            if entering == 0:
                yield self.root, operation, 0
        due = problem.due_ns is not None
        for operation, latest in enumerate(self._latest):
            if due or not self._successors[operation]:
                yield operation, self.root, self._lengths[operation] - latest
        for operation in self._pinned:
            yield self.root, operation, self._starts[operation]
            yield operation, self.root, -self._starts[operation]
        for first, end in self._held:
            yield end, first, self._lengths[end] - self._span
        if problem.chains_required:
            for chain in problem.chains:
                for u, v in zip(chain[:-1].tolist(), chain[1:].tolist(), strict=True):
                    yield u, v, 0

    def delayed(self, start_ns: IntArray, closing: IntArray) -> list[int]:
        """Latest starts while the operations that close flights, and pinned ones, stay: one pass from the back."""
        times: list[int] = start_ns.tolist()
        fixed = self._pinned | set(closing.tolist())
        limits = {end: times[first] + self._span - self._lengths[end] for first, end in self._held}
        for operation in reversed(self._order):
            if operation in fixed:
                continue
            length = self._lengths[operation]
            latest = min(self._latest[operation] - length, limits.get(operation, NO_DEADLINE))
            for v, lag in self._successors[operation]:
                latest = min(latest, times[v] - length - lag)
            times[operation] = max(times[operation], latest)
        return [*times, 0]


def _latest_ends(problem: Problem, makespan: int) -> list[int]:
    if problem.due_ns is None:
        return [makespan] * len(problem.operations)
    return [min(makespan, due) for due in problem.due_ns.tolist()]
