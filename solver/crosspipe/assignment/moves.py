"""Neighbours of an assignment: one item moved over a boundary, two stages' devices exchanged, another recomputation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.costs.assignment import Assignment
    from crosspipe.problem.space import Space


def neighbours(assignment: Assignment, space: Space) -> Iterator[Assignment]:
    """List the neighbours: moves of one item, then exchanges of neighbouring devices, then of recomputation.

    Those that put an item elsewhere than it is pinned are left out.
    """
    return filter(space.keeps_pins, _moved(assignment, space))


def _moved(assignment: Assignment, space: Space) -> Iterator[Assignment]:
    stages = len(assignment.ends)
    for boundary in range(stages - 1):
        for step in (-1, 1):
            ends = list(assignment.ends)
            ends[boundary] += step
            if _cut(ends, space):
                yield replace(assignment, ends=tuple(ends))
    if not space.given_order:
        for stage in range(stages - 1):
            devices = list(assignment.devices)
            if space.class_of[devices[stage]] != space.class_of[devices[stage + 1]]:
                devices[stage : stage + 2] = devices[stage + 1], devices[stage]
                # What each of the two devices holds goes with it, where that is possible.
                ends = list(assignment.ends)
                first, _ = assignment.runs[stage]
                ends[stage] = first + assignment.counts[stage + 1]
                yield replace(
                    assignment, devices=tuple(devices), ends=tuple(ends) if _cut(ends, space) else assignment.ends
                )
    for stage, (first, end) in enumerate(assignment.runs):
        for way in space.ways(first, end):
            if way != assignment.recompute[stage]:
                yield replace(
                    assignment, recompute=(*assignment.recompute[:stage], way, *assignment.recompute[stage + 1 :])
                )


def _cut(ends: list[int], space: Space) -> bool:
    starts = (0, *ends[:-1])
    return all(end > first and space.allows(first, end) for first, end in zip(starts, ends, strict=True))
