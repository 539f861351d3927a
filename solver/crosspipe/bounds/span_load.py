"""Load of one device or lane within the time that another device is held.

Take a device d, its first start and its last end of compute. Every operation that must come after some compute of d and
before some other lies between the two, wherever it runs: it starts no earlier than its head, counted from that first
start, and leaves at least its tail to that last end (`device_timing`). The operations of another device e (or a lane)
for which both exist run one at a time, so the preemptive optimum of these heads, durations and tails (`one_machine.py`)
bounds the time that d is held, and with it the span. The lane's windows are left out, as nobody knows when the first
start is.

With memory to spare this is what keeps the first device of a pipeline waiting: forwards down to the last device, all
forwards and backwards there, the last gradient back, and its weight half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.bounds.bound import Bound
from crosspipe.bounds.one_machine import preemptive
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.timing import Timing
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem

MOST_JOBS = 2 * 10**4
"""Operations x devices up to which every device and lane is looked at, beyond only the most promising for each."""


def span_loads(graph: Graph, timing: Timing, held: int) -> Iterator[Bound]:
    """Bound the time `held` is held by the load of each other device and lane, `timing` being that of `held`.

    Data: `head_ns + work_ns + tail_ns` is the value; the operations counted are those of `resource` with at least that
    head and that tail, both seen from the device `held`.
    """
    problem = graph.problem
    lying = np.flatnonzero((timing.head >= 0) & (timing.tail >= 0) & (problem.operations.resource >= 0))
    by_resource = _by_resource(problem, lying)
    by_resource.pop(held, None)
    if len(problem.operations) * problem.devices_per_replica > MOST_JOBS and by_resource:
        promising = max(by_resource, key=lambda resource: _estimate(graph, timing, by_resource[resource]))
        by_resource = {promising: by_resource[promising]}
    for resource, rows in by_resource.items():
        bound = _load(graph, timing, held, resource, rows)
        if bound is not None:
            yield bound


def where_held(problem: Problem, resource: int, held: int) -> str:
    """Name a load within the time that a device is held."""
    return f"{problem.resource_name(resource)} while {problem.resource_name(held)} is held"


def _by_resource(problem: Problem, rows: IntArray) -> dict[int, IntArray]:
    resource = problem.operations.resource[rows]
    order = np.argsort(resource, kind="stable")
    numbers, firsts = np.unique(resource[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(rows[order], firsts[1:]), strict=True))


def _estimate(graph: Graph, timing: Timing, rows: IntArray) -> int:
    """Least head, all work and least tail: of all operations, and without the weight halves, whose tails are short."""
    without = rows[graph.problem.operations.kind[rows] != Kind.W]
    return max(
        int(timing.head[some].min() + sum(graph.durations[some].tolist()) + timing.tail[some].min())
        for some in (rows, without)
        if len(some)
    )


def _load(graph: Graph, timing: Timing, held: int, resource: int, rows: IntArray) -> Bound | None:
    heads, tails = timing.head[rows].tolist(), timing.tail[rows].tolist()
    machine = preemptive(heads, graph.durations[rows].tolist(), tails)
    if machine is None:
        return None
    counted = sum(h >= machine.head_ns and t >= machine.tail_ns for h, t in zip(heads, tails, strict=True))
    data: dict[str, object] = {
        "resource": resource,
        "held": held,
        "head_ns": machine.head_ns,
        "work_ns": machine.work_ns,
        "tail_ns": machine.tail_ns,
        "operations": counted,
    }
    return Bound(machine.value_ns, "span load", where_held(graph.problem, resource, held), data)
