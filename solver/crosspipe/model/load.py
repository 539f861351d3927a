"""The load of each device and lane: what it does cannot be done in less than its own time.

Makespan: `goal >= min head + sum of durations + min tail` over the operations of a device or lane, as they run one
after the other between the earliest head and the latest end that leaves the smallest tail.
Span: `goal >= sum of durations` of a device's compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.model.ticks import Ticks
    from crosspipe.problem.operations import IntArray


def load(ticks: Ticks, heads: IntArray, tails: IntArray) -> int:
    """Largest load of a device or lane in ticks, a lower bound of the objective."""
    if ticks.objective is Objective.SPAN:
        kind = ticks.problem.operations.kind
        devices = ticks.problem.by_resource[: len(ticks.problem.devices)]
        return max((int(ticks.duration[rows[kind[rows] <= Kind.BW]].sum()) for rows in devices), default=0)
    return max(
        (
            int(heads[rows].min() + ticks.duration[rows].sum() + tails[rows].min())
            for rows in ticks.problem.by_resource
            if len(rows)
        ),
        default=0,
    )
