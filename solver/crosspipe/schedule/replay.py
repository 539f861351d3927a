"""Orders to exact times: every operation as early as the orders, the messages and the windows allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import DeadlockError, NeverOpensError
from crosspipe.problem.calendar import LaneCalendar
from crosspipe.schedule.graph import Graph, find_cycle
from crosspipe.schedule.orders import Schedule

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Orders


def replay(problem: Problem, orders: Orders, release_ns: IntArray | None = None) -> Schedule:
    """Time the orders.

    Memory is not looked at: on a device that runs one operation at a time the amounts held follow from its order alone,
    so no delay can mend an order that holds too much.

    Parameters
    ----------
    problem
        The problem; recompute options named by the orders are applied to it.
    orders
        One order per device and lane.
    release_ns
        Earliest start per operation, shape (N,), default 0.

    Raises
    ------
    DeadlockError
        If operations wait for each other in a circle.
    NeverOpensError
        If a transfer waits for a lane that never again opens for long enough.
    """
    problem = resolved(problem, orders)
    return run(problem, orders, Graph(problem, orders), release_ns)


def resolved(problem: Problem, orders: Orders) -> Problem:
    """Apply the recompute options that the orders name, unless applied already."""
    return problem.recompute(orders.recomputed) if orders.recomputed and not problem.recomputed else problem


def run(problem: Problem, orders: Orders, graph: Graph, release_ns: IntArray | None = None) -> Schedule:
    """Time the orders over a graph built before; see `replay`."""
    count = len(problem.operations)
    ready: list[int] = [0] * count if release_ns is None else release_ns.tolist()
    end: list[int] = [0] * count
    duration: list[int] = problem.operations.duration_ns.tolist()
    calendars = window_calendars(problem)
    waiting = list(graph.entering)
    todo = [operation for operation, entering in enumerate(waiting) if entering == 0]
    done = 0
    while todo:
        operation = todo.pop()
        done += 1
        if operation in calendars:
            calendar = calendars[operation]
            start = calendar.start(ready[operation], duration[operation])
            if start is None:
                raise NeverOpensError(f"{problem.label(operation)} waits for a lane that never opens long enough")
            ready[operation] = start
            finish = calendar.end(start, duration[operation])
        else:
            finish = ready[operation] + duration[operation]
        end[operation] = finish
        for successor, lag in graph.successors[operation]:
            ready[successor] = max(ready[successor], finish + lag)
            waiting[successor] -= 1
            if waiting[successor] == 0:
                todo.append(successor)
    if done < count:
        cycle = find_cycle(graph, waiting)
        names = " -> ".join(problem.label(operation) for operation in cycle)
        raise DeadlockError(f"operations wait for each other: {names}", cycle)
    return Schedule(np.array(ready, dtype=np.int64), np.array(end, dtype=np.int64), orders)


def window_calendars(problem: Problem) -> dict[int, LaneCalendar]:
    """Calendar of each operation whose lane has windows."""
    found: dict[int, LaneCalendar] = {}
    for number, lane in enumerate(problem.lanes):
        if lane.windows:
            calendar = LaneCalendar(lane)
            found |= dict.fromkeys(problem.by_resource[len(problem.devices) + number].tolist(), calendar)
    return found
