"""A schedule in the Trace Event Format, which chrome://tracing, Perfetto and speedscope open."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crosspipe.problem.operations import NO_RESOURCE, Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

NS_PER_US = 1000


def chrome_trace(problem: Problem, schedule: Schedule) -> str:
    """Write every operation as a complete event (`ph: X`, microseconds): devices are threads of process 0, lanes of 1.

    Operations of no length and those that occupy nothing are written on process 2, as they have no thread of their own.
    """
    events: list[dict[str, object]] = []
    for process, name in enumerate(("devices", "lanes", "on no device or lane")):
        events.append({"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}})
    for resource in range(problem.resources):
        process, thread = _place(problem, resource)
        name = problem.resource_name(resource)
        events.append({"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}})
    ops = problem.operations
    for operation in problem:
        process, thread = _place(problem, int(ops.resource[operation]))
        start, end = int(schedule.start_ns[operation]), int(schedule.end_ns[operation])
        events.append(
            {
                "ph": "X",
                "name": problem.label(operation),
                "cat": Kind(int(ops.kind[operation])).name.lower(),
                "pid": process,
                "tid": thread,
                "ts": start / NS_PER_US,
                "dur": (end - start) / NS_PER_US,
            }
        )
    document = {"displayTimeUnit": "ms", "otherData": {"digest": problem.digest}, "traceEvents": events}
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n"


def _place(problem: Problem, resource: int) -> tuple[int, int]:
    """Return process and thread of a resource."""
    if resource == NO_RESOURCE:
        return 2, 0
    lane = resource - len(problem.devices)
    return (0, resource) if lane < 0 else (1, lane)
