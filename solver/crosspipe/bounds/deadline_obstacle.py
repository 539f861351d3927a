"""A deadline below what any schedule can reach.

Operations with a deadline at or before D must all end by D. The last of them ends no earlier than any bound says in
which tails count only the way to these operations: the longest path to them, the load of a device or lane with the
work that must come before them. Where they are all operations, D is a limit of the makespan, and every makespan bound
applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.bounds.best import lower_bound
from crosspipe.bounds.critical_path import critical_path
from crosspipe.bounds.device_load import device_load, lane_load
from crosspipe.bounds.obstacle import Obstacle, listed, ms
from crosspipe.bounds.timing import timing
from crosspipe.problem.operations import NO_DEADLINE, Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.bounds.bound import Bound
    from crosspipe.bounds.graph import Graph
    from crosspipe.problem.problem import Problem

    IntArray = NDArray[np.int64]


def deadline_obstacles(problem: Problem, graph: Graph) -> tuple[Obstacle, ...]:
    """Name the deadlines that a lower bound rules out; meaningless unless every transfer finds an opening.

    `graph` is that of the relaxed problem.
    """
    due = problem.due_ns
    if due is None:
        return ()
    found = []
    for deadline in np.unique(due[due < NO_DEADLINE]).tolist():
        bound = _earliest(problem, graph, np.flatnonzero(due <= deadline))
        if bound is not None and bound.value_ns > deadline:
            found.append(_obstacle(graph, deadline, due, bound))
    return tuple(found)


def _earliest(problem: Problem, graph: Graph, asked: IntArray) -> Bound | None:
    """Bound on the last end of the operations asked for."""
    if len(asked) == len(problem.operations):
        return lower_bound(problem, Objective.MAKESPAN)
    times = timing(graph, targets=asked)
    devices = len(problem.devices)
    bounds = [device_load(graph, times, device) for device in range(devices)]
    bounds += [critical_path(graph, times)]
    bounds += [lane_load(graph, times, devices + k) for k in range(len(problem.lanes))]
    return max((bound for bound in bounds if bound is not None), key=lambda bound: bound.value_ns, default=None)


def _obstacle(graph: Graph, deadline_ns: int, due: IntArray, bound: Bound) -> Obstacle:
    ops = graph.problem.operations
    stages = sorted(set(ops.stage[(due == deadline_ns) & (ops.kind <= Kind.BW)].tolist()))
    everything = bool((due <= deadline_ns).all())
    names = [str(stage) for stage in stages]
    where = "the schedule" if everything else f"stage{'s' if len(stages) > 1 else ''} {listed(names)}"
    message = (
        f"the deadline of {ms(deadline_ns)} for {where} cannot be met: any schedule needs "
        f"{ms(bound.value_ns)} at least ({bound.name}, {bound.where})"
    )
    facts: dict[str, object] = {
        "stages": stages,
        "needs": bound.value_ns,
        "has": deadline_ns,
        "bound": bound.name,
        "bound_from": bound.where,
    }
    return Obstacle("deadline", where, bound.value_ns, deadline_ns, "ns", bound.value_ns, message, facts)
