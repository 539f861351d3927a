"""How much every device and lane has to do, whatever the order: the busiest is the bottleneck."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.accounts.models import Load
from crosspipe.answer.units import to_ms

if TYPE_CHECKING:
    from crosspipe.accounts.timeline import Timeline


def loads(timeline: Timeline, makespan_ns: int, bound_ns: int | None) -> list[Load]:
    """List devices and lanes, the busiest first, of equals devices first."""
    problem, found = timeline.problem, []
    for resource, sequence in enumerate(timeline.orders.sequences):
        busy = sum(timeline.end[row] - timeline.start[row] for row in sequence.tolist())
        found.append((busy, resource))
    found.sort(key=lambda row: (-row[0], row[1]))
    return [
        Load(
            resource=problem.resource_name(resource),
            kind="device" if resource < len(problem.devices) else "lane",
            busy_ms=to_ms(busy),
            share=busy / makespan_ns if makespan_ns else 0.0,
            share_of_bound=busy / bound_ns if bound_ns else None,
        )
        for busy, resource in found
    ]


__all__ = ["loads"]
