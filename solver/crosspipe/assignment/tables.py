"""The bound over all assignments: least heads, tails and round trips of every position, and what they allow.

A state is a position (devices used, class of the last) and the item that the next stage begins with. Forward passes
give the least head, and least head plus tail, of any way to a state; backward passes the least round trip and the least
makespan of any way on. A run that by `least_makespan` cannot be part of a schedule of at most `most_ns` is left out,
which raises all the others; so the passes go on until nothing changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.assignment.runs import hop_tables, run_tables
from crosspipe.assignment.terms import least_makespan, least_of_runs
from crosspipe.problem.space import UNREACHABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.assignment.positions import Positions
    from crosspipe.assignment.runs import RunTable
    from crosspipe.costs.assignment import Assignment
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.space import Space

NEVER = UNREACHABLE
MOST_PASSES = 6
"""Passes until nothing changes are few; what more would give is not worth its time."""


class Tables:
    """What is known of every state, for schedules of at most `most_ns`.

    Attributes
    ----------
    heads, ends
        Per layer [position, item]: least head, and least head plus tail, of the ways to a state.
    trips, values
        Per layer [position, item]: least round trip, and least makespan, of the ways on from a state.
    """

    def __init__(self, space: Space, positions: Positions, most_ns: int) -> None:
        self.space, self.positions, self.most_ns = space, positions, most_ns
        self.runs = run_tables(space, most_ns)
        self.hops, self.back = hop_tables(space)
        self.trains = all(space.run(item, item + 1, 0, "none").trains for item in range(space.items))
        self._classes = [np.array([p.last for p in layer], dtype=np.int64) for layer in positions.layers]
        shapes = [(len(layer), space.items + 1) for layer in positions.layers]
        self.heads = [np.zeros(shape, dtype=np.int64) for shape in shapes]
        self.ends = [np.zeros(shape, dtype=np.int64) for shape in shapes]
        self.trips = [np.zeros(shape, dtype=np.int64) for shape in shapes]
        self.values = [np.zeros(shape, dtype=np.int64) for shape in shapes]
        self.arrivals = [np.zeros(shape, dtype=np.int64) for shape in shapes]
        self.arrivals_and_tails = [np.zeros(shape, dtype=np.int64) for shape in shapes]

    def tighten(self, most_ns: int, out_of_time: Callable[[], bool] = lambda: False) -> int | None:
        """Give the least makespan that any assignment may have, None if none may have one of at most `most_ns`."""
        if most_ns > self.most_ns:
            for trips in self.trips:
                trips[:] = 0  # those known leave out what was too slow before
        self.most_ns = most_ns
        known = -1
        for _ in range(MOST_PASSES):
            self._forward()
            value = self._backward()
            if value > most_ns:
                return None
            settled, known = value == known, value
            if settled or out_of_time():
                break
        return known

    def least_of(self, assignment: Assignment) -> int:
        """Bound the makespan of one assignment by its own heads, tails and round trips; NEVER if a run does not fit."""
        space = self.space
        places = [space.class_of[device] for device in assignment.devices]
        cut = zip(assignment.runs, places, assignment.recompute, strict=True)
        runs = [space.run(first, end, place, way) for (first, end), place, way in cut]
        if not all(run.in_flight for run in runs):
            return NEVER
        hops = [
            (int(self.hops[end, a, b]), int(self.back[end, a, b]))
            for end, a, b in zip(assignment.ends, places, places[1:], strict=False)
        ]
        return least_of_runs(runs, hops, space.microbatches, trains=self.trains)

    def _last(self, layer: int) -> bool:
        return layer == len(self.positions.layers) - 1

    def ends_here(self, layer: int) -> bool:
        """Whether a pipeline may end after this many stages."""
        return self._last(layer) or self.space.leave_unused

    def _forward(self) -> None:
        for layer in range(len(self.positions.layers)):
            arrival, with_tail = self.arrivals[layer], self.arrivals_and_tails[layer]
            arrival[:], with_tail[:] = NEVER, NEVER
            if layer == 0:
                arrival[:, 0] = with_tail[:, 0] = 0
            else:
                self._arrive(layer, arrival, with_tail)
            self.heads[layer][:], self.ends[layer][:] = NEVER, NEVER
            for place, tables in enumerate(self.runs):
                rows = np.flatnonzero(self._classes[layer] == place)
                if len(rows):
                    for table in tables:
                        self._place(layer, rows, table, first=layer == 0)

    def _arrive(self, layer: int, arrival: IntArray, with_tail: IntArray) -> None:
        heads, ends, classes = self.heads[layer - 1], self.ends[layer - 1], self._classes[layer]
        for before, following in enumerate(self.positions.after[layer - 1]):
            if not following:
                continue
            rows, last = list(following), self.positions.layers[layer - 1][before].last
            there = self.hops[:, last, classes[rows]].T
            np.minimum.at(arrival, rows, np.minimum(heads[before] + there, NEVER))
            back = self.back[:, last, classes[rows]].T
            np.minimum.at(with_tail, rows, np.minimum(ends[before] + there + back, NEVER))

    def _costs(self, layer: int, rows: IntArray, table: RunTable) -> tuple[IntArray, IntArray]:
        """Least makespan of each run [row, first item, length - 1], NEVER where it cannot be; and the item after it."""
        items = self.space.items
        end = np.minimum(np.arange(items)[:, None] + 1 + np.arange(table.forward.shape[1])[None, :], items)
        head = self.arrivals[layer][rows][:, :items, None]
        with_tail = self.arrivals_and_tails[layer][rows][:, :items, None] if self.trains else head
        trip = self.trips[layer][rows][:, end] if self.trains else np.zeros((1, 1, 1), dtype=np.int64)
        cost = least_makespan(
            head,
            with_tail,
            np.where(trip >= NEVER, 0, trip),
            (table.forward, table.backward, table.weight),
            table.load,
            (table.in_flight, table.held),
            self.space.microbatches,
        )
        allowed = table.fits & (head < NEVER) & (cost <= self.most_ns) & (trip < NEVER)
        return np.where(allowed, cost, NEVER), end

    def _place(self, layer: int, rows: IntArray, table: RunTable, *, first: bool) -> None:
        cost, end = self._costs(layer, rows, table)
        items = self.space.items
        open_ = cost < NEVER
        head = np.where(open_, self.arrivals[layer][rows][:, :items, None] + table.forward, NEVER)
        tail = self.arrivals_and_tails[layer][rows][:, :items, None] + table.forward + table.backward
        tail = np.where(open_, tail + (table.weight if first else 0), NEVER)
        flat = end.ravel()
        for number, row in enumerate(rows):
            np.minimum.at(self.heads[layer][row], flat, head[number].ravel())
            np.minimum.at(self.ends[layer][row], flat, tail[number].ravel())

    def _backward(self) -> int:
        best = NEVER
        for layer in reversed(range(len(self.positions.layers))):
            trips, values = self.trips[layer], self.values[layer]
            new_trips, new_values = np.full_like(trips, NEVER), np.full_like(values, NEVER)
            if self.ends_here(layer):
                new_trips[:, -1] = new_values[:, -1] = 0
            if not self._last(layer):
                self._go_on(layer, new_trips, new_values)
            trips[:], values[:] = new_trips, new_values
        for place, tables in enumerate(self.runs):
            rows = np.flatnonzero(self._classes[0] == place)
            for table in tables if len(rows) else ():
                cost, end = self._costs(0, rows, table)
                best = min(best, int(np.maximum(cost, self.values[0][rows][:, end])[:, 0].min()))
        return best

    def _go_on(self, layer: int, trips: IntArray, values: IntArray) -> None:
        """Fill in what is least on from the states of a layer, by way of the next."""
        count, items = len(self.positions.layers[layer + 1]), self.space.items
        onward = np.full((count, items + 1), NEVER, dtype=np.int64)
        least = np.full((count, items + 1), NEVER, dtype=np.int64)
        for place, tables in enumerate(self.runs):
            rows = np.flatnonzero(self._classes[layer + 1] == place)
            for table in tables if len(rows) else ():
                cost, end = self._costs(layer + 1, rows, table)
                value = np.maximum(cost, self.values[layer + 1][rows][:, end])
                trip = self.trips[layer + 1][rows][:, end] + table.forward + table.backward
                trip = np.where(value < NEVER, trip, NEVER)
                least[rows, :items] = np.minimum(least[rows, :items], value.min(axis=2))
                onward[rows, :items] = np.minimum(onward[rows, :items], trip.min(axis=2))
        classes = self._classes[layer + 1]
        for before, following in enumerate(self.positions.after[layer]):
            if not following:
                continue
            numbers, last = list(following), self.positions.layers[layer][before].last
            hop = (self.hops[:, last, classes[numbers]] + self.back[:, last, classes[numbers]]).T
            reachable = hop < NEVER
            trips[before] = np.minimum(trips[before], np.where(reachable, onward[numbers] + hop, NEVER).min(axis=0))
            values[before] = np.minimum(values[before], np.where(reachable, least[numbers], NEVER).min(axis=0))
        np.minimum(trips, NEVER, out=trips)
