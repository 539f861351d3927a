"""From operations to coloured blocks in px, one by one, while there are few enough to be seen apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.export.svg.palette import shade
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosspipe.export.svg.scale import Scale
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

THINNEST_PX = 0.7
"""A block is never drawn thinner, so that a short message on a long axis can be seen."""


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a row from `left` to `right` px, with a label where there is one to show."""

    left: float
    right: float
    fill: str
    label: str | None = None


def fills(problem: Problem) -> list[str]:
    """Return the fill of every operation."""
    held = {
        (device.replica, stage): (place, len(device.stages))
        for device in problem.devices
        for place, stage in enumerate(device.stages)
    }
    ops = problem.operations
    found = []
    for kind, stage, replica in zip(ops.kind.tolist(), ops.stage.tolist(), ops.replica.tolist(), strict=True):
        place, count = held.get((replica, stage), (0, 1))
        found.append(shade(Kind(kind), place, count))
    return found


def exact_blocks(
    problem: Problem, schedule: Schedule, operations: Iterable[int], scale: Scale, fill_of: list[str]
) -> list[Block]:
    """Return one block per operation that takes time, labelled by its microbatch, or its name if it is an extra one."""
    names = {number: name for name, number in problem.extras}
    found = []
    for operation in operations:
        start, end = int(schedule.start_ns[operation]), int(schedule.end_ns[operation])
        if end > start:
            label = names.get(operation, str(int(problem.operations.microbatch[operation])))
            left = scale.x(start)
            found.append(Block(left, max(scale.x(end), left + THINNEST_PX), fill_of[operation], label))
    return found
