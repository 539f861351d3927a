"""Load of one device or lane: it does one thing at a time.

The operations of a device cannot start before their heads, run one at a time, and leave their tails behind: a
one-machine problem, bounded by its preemptive optimum (`one_machine.py`). It is never below `least head + all work +
least tail`. On a lane, heads wait for openings and the work is done at the rate of the openings.

For the span, heads and tails count from the first start and to the last end of compute on the device, so the value
bounds the time that device is held; an extra operation counts where it must lie between two of its compute operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.bounds.bound import Bound
from crosspipe.bounds.one_machine import preemptive
from crosspipe.bounds.openings import openings

if TYPE_CHECKING:
    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.timing import Timing


def device_load(graph: Graph, timing: Timing, device: int) -> Bound | None:
    """Bound by the load of a device; None if it has nothing to do.

    Data: `head_ns + work_ns + tail_ns` is the value; the operations counted are those of the device with at least that
    head and that tail.
    """
    return _load(graph, timing, device, "device load")


def lane_load(graph: Graph, timing: Timing, resource: int) -> Bound | None:
    """Bound by the load of a lane (a resource number); None if it has nothing to do or can never do it all.

    Data as for a device; with windows the work takes from `head_ns` to `value - tail_ns`.
    """
    return _load(graph, timing, resource, "lane load")


def _load(graph: Graph, timing: Timing, resource: int, name: str) -> Bound | None:
    problem = graph.problem
    rows = problem.by_resource[resource]
    rows = rows[(timing.head[rows] >= 0) & (timing.tail[rows] >= 0)]
    lane = resource - len(problem.devices)
    opened = openings(problem.lanes[lane]) if lane >= 0 else None
    machine = preemptive(timing.head[rows].tolist(), graph.durations[rows].tolist(), timing.tail[rows].tolist(), opened)
    if machine is None:
        return None
    counted = np.count_nonzero((timing.head[rows] >= machine.head_ns) & (timing.tail[rows] >= machine.tail_ns))
    data: dict[str, object] = {
        "resource": resource,
        "head_ns": machine.head_ns,
        "work_ns": machine.work_ns,
        "tail_ns": machine.tail_ns,
        "operations": int(counted),
    }
    return Bound(machine.value_ns, name, problem.resource_name(resource), data)
