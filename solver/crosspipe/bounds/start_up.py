"""Start-up: until the first gradient arrives, memory lets only so many forwards run.

Let R be the least head of a backward on the device and h the least head of all. No memory of a microbatch is given back
before R, so at most K forwards of a device with one stage start before R: until R the device does at most
`min(K F, R - h)` of its work. The rest comes after R, one at a time, and the least tail after that.

With several stages on the device, the forwards that start before R hold at least the smallest activation each: at most
K' = floor(room / smallest) of them, counted with the longest forward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.bounds.bound import Bound
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.pipeline import StageFacts
    from crosspipe.bounds.timing import Timing


def start_up(graph: Graph, timing: Timing, facts: Sequence[StageFacts], pool: int) -> Bound | None:
    """Bound by the start-up of the device of a limited pool.

    Applies where every stage on the device is trainable, holds something of the pool and has its facts (`stage_facts`).
    Data: `first_backward_ns + work_ns - before_ns + tail_ns` is the value.
    """
    problem = graph.problem
    held = [fact for fact in facts if fact.pool == pool]
    device = problem.pools[pool].device
    if {fact.stage for fact in held} != set(problem.devices[device].stages):
        return None
    smallest = min((fact.activation for fact in held), default=0)
    if smallest == 0:
        return None
    rows = problem.by_resource[device]
    rows = rows[problem.operations.kind[rows] <= Kind.BW]
    first_backward = min(int(timing.head[fact.first_backward]) for fact in held)
    first = int(timing.head[rows].min())
    most = held[0].room // smallest
    before = min(most * max(fact.forward_ns for fact in held), first_backward - first)
    work = sum(graph.durations[rows].tolist())
    tail = int(timing.tail[rows].min())
    data: dict[str, object] = {
        "resource": device,
        "first_backward_ns": first_backward,
        "before_ns": before,
        "forwards_before": most,
        "work_ns": work,
        "tail_ns": tail,
    }
    value = first_backward + work - before + tail
    return Bound(value, "start-up", problem.resource_name(device), data)
