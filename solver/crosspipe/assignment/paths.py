"""Assignments in the order of what the bound says of them, best first.

A path is the first stages of an assignment; its least makespan is that of its stages with their exact heads and tails,
and that of the best way on. The least of all paths that wait is a bound over every assignment not yet given out.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.assignment.tables import NEVER
from crosspipe.assignment.terms import least_makespan
from crosspipe.costs.assignment import Assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crosspipe.assignment.tables import Tables
    from crosspipe.spec.model import Recompute

MOST_WAITING = 400_000
"""Paths that may wait; with more the search goes on with the bound it has."""

MOST_STEPS_OF_DIVE = 400
"""Stages that a dive places before it is given up."""

NEARLY = 500
"""Makespans within this part of the least count as equal in a dive."""


@dataclass(frozen=True, slots=True)
class Path:
    """First stages of an assignment: their device classes, ends and ways, and what they come to."""

    layer: int
    position: int
    end: int
    head: int
    tail: int
    stages: tuple[tuple[int, int, Recompute], ...]


class Paths:
    """All assignments of a space that may have a makespan of at most `most_ns`, best first."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._count = count()
        self._heap: list[tuple[int, int, int, Path]] = []
        self._push(0, Path(-1, -1, 0, 0, 0, ()))

    @property
    def least_ns(self) -> int | None:
        """What every assignment not yet given out takes at least; None where there is none of at most `most_ns`."""
        return self._heap[0][0] if self._heap and self._heap[0][0] <= self._tables.most_ns else None

    def next(self, out_of_time: Callable[[], bool]) -> tuple[Assignment, int] | None:
        """Give the next assignment and its least makespan; None if there is none left or no time."""
        while self._heap and self._heap[0][0] <= self._tables.most_ns:
            if len(self._heap) > MOST_WAITING or out_of_time():
                return None
            key, _, _, path = heapq.heappop(self._heap)
            if path.layer >= 0 and path.end == self._tables.space.items and self._tables.ends_here(path.layer):
                exact = self._tables.least_of(self._assignment(path))
                if exact > self._tables.most_ns:
                    continue
                if exact > key:
                    # It waits again with what it comes to now that all is known of it.
                    heapq.heappush(self._heap, (exact, -1000, next(self._count), Path(-2, 0, 0, 0, 0, path.stages)))
                    continue
                return self._assignment(path), key
            if path.layer == -2:  # a whole assignment that waited again
                return self._assignment(path), key
            for value, longer in self._longer(path):
                self._push(max(key, value), longer)
        return None

    def dive(self, seed: int) -> Assignment | None:
        """Go straight to an assignment, stage after stage by one of the least makespans; None where that leads nowhere.

        Where very many paths are nearly as good the best first of them reaches no end for long.
        """
        draw = random.Random(seed)  # noqa: S311  # which of equals is taken, not a secret
        waiting = [Path(-1, -1, 0, 0, 0, ())]
        for _ in range(MOST_STEPS_OF_DIVE):
            if not waiting:
                return None
            path = waiting.pop()
            if path.layer >= 0 and path.end == self._tables.space.items and self._tables.ends_here(path.layer):
                return self._assignment(path)
            onward = [(value, draw.random(), longer) for value, longer in self._longer(path)]
            least = min((value for value, _, _ in onward), default=0)
            near = least + least // NEARLY
            # Those nearly as good as the best come in any order, before the others.
            onward.sort(key=lambda step: (max(step[0], near), step[1]), reverse=True)
            waiting += [longer for _, _, longer in onward]
        return None

    def _push(self, value: int, path: Path) -> None:
        if value <= self._tables.most_ns:
            heapq.heappush(self._heap, (value, -path.end, next(self._count), path))

    def _longer(self, path: Path) -> Iterator[tuple[int, Path]]:
        tables = self._tables
        layer = path.layer + 1
        if layer >= len(tables.positions.layers) or path.end >= tables.space.items:
            return
        if path.layer < 0:
            following: tuple[int, ...] = tuple(range(len(tables.positions.layers[0])))
        else:
            following = tables.positions.after[path.layer][path.position]
        for number in following:
            yield from self._onto(path, layer, number)

    def _onto(self, path: Path, layer: int, number: int) -> Iterator[tuple[int, Path]]:
        """List the paths with one more stage on the class of a position."""
        tables, first = self._tables, path.end
        place = tables.positions.layers[layer][number].last
        there = back = 0
        if path.stages:
            there = int(tables.hops[first, path.stages[-1][0], place])
            back = int(tables.back[first, path.stages[-1][0], place])
            if max(there, back) >= NEVER:
                return
        head, tail = path.head + there, path.tail + back
        width = min(tables.runs[place][0].forward.shape[1], tables.space.items - first)
        ends = first + 1 + np.arange(width)
        for table in tables.runs[place]:
            row = slice(0, width)
            trips, values = tables.trips[layer][number, ends], tables.values[layer][number, ends]
            forward, backward = table.forward[first, row], table.backward[first, row]
            cost = least_makespan(
                np.full(width, head, dtype=np.int64),
                np.full(width, head + (tail if tables.trains else 0), dtype=np.int64),
                trips if tables.trains else np.zeros(width, dtype=np.int64),
                (forward, backward, table.weight[first, row]),
                table.load[first, row],
                (table.in_flight[first, row], table.held[first, row]),
                tables.space.microbatches,
            )
            cost = np.maximum(cost, values)
            for at in np.flatnonzero(table.fits[first, row] & (cost <= tables.most_ns) & (trips < NEVER)):
                weight = int(table.weight[first, at]) if not path.stages else 0
                yield (
                    int(cost[at]),
                    Path(
                        layer,
                        number,
                        int(ends[at]),
                        head + int(forward[at]),
                        tail + int(backward[at]) + weight,
                        (*path.stages, (place, int(ends[at]), table.way)),
                    ),
                )

    def _assignment(self, path: Path) -> Assignment:
        """Put the stages on devices: those of a class in the user's order."""
        taken = dict.fromkeys(range(len(self._tables.space.classes)), 0)
        devices = []
        for place, _, _ in path.stages:
            devices.append(self._tables.space.classes[place].devices[taken[place]])
            taken[place] += 1
        return Assignment(
            tuple(end for _, end, _ in path.stages), tuple(devices), tuple(way for _, _, way in path.stages)
        )
