"""Latest ends of a window's operations where tails do not say enough: under deadlines, and on lanes with windows.

What starts after the window keeps its order. From the value wanted and the deadlines, latest ends are carried back
through it: an operation ends before the latest start of what waits for it and of the next on its device or lane; on a
lane with windows the latest start is that of a transfer that ends in time without meeting a closed lane.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import NO_DEADLINE
from crosspipe.problem.pieces import latest_start_ns, pieces_of
from crosspipe.schedule.graph import topological

if TYPE_CHECKING:
    from crosspipe.model.window_frame import Frame
    from crosspipe.problem.pieces import Piece
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

BEFORE = -(2**60)
"""Latest start of what cannot end in time."""


class LatestEnds:
    """Latest ends in one problem; `needed` tells whether they say more than tails."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._pieces: dict[int, tuple[list[Piece], int]] = {
            number: (pieces_of(lane), lane.rate_bps)
            for number, lane in enumerate(problem.lanes, start=len(problem.devices))
            if lane.windows
        }
        self.needed = bool(self._pieces) or problem.due_ns is not None

    def inside(self, schedule: Schedule, frame: Frame, limit_ns: int) -> dict[int, int]:
        """Latest end of each operation inside the window; none ends after `limit_ns`."""
        problem, is_after = self._problem, frame.is_after
        due = np.full(len(problem.operations), limit_ns, dtype=np.int64)
        if problem.due_ns is not None:
            due = np.minimum(due, np.where(problem.due_ns == NO_DEADLINE, limit_ns, problem.due_ns))
        latest: list[int] = due.tolist()
        duration: list[int] = problem.operations.duration_ns.tolist()
        resource: list[int] = problem.operations.resource.tolist()
        following: dict[int, int] = {}
        first: dict[int, int] = {}
        for number, sequence in enumerate(schedule.orders.sequences):
            later = sequence[is_after[sequence]].tolist()
            following.update(pairwise(later))
            if later:
                first[number] = later[0]
        start: dict[int, int] = {}

        def end(v: int, next_one: int | None) -> int:
            successors = frame.graph.successors[v]
            bounds = [start[w] - lag for w, lag in successors if w in start]
            return min(latest[v], *bounds, start[next_one] if next_one is not None else latest[v])

        for v in reversed(topological(frame.graph)):
            if not is_after[v]:
                continue
            start[v] = self._start(end(v, following.get(v)), duration[v], resource[v])
        return {v: end(v, first.get(resource[v])) for v in frame.inside}

    def _start(self, end_ns: int, duration_ns: int, resource: int) -> int:
        if resource not in self._pieces:
            return end_ns - duration_ns
        pieces, full_bps = self._pieces[resource]
        found = latest_start_ns(pieces, full_bps, end_ns, duration_ns)
        return BEFORE if found is None else found
