"""Costs of all runs on each class of devices as arrays: row = first item, column = length - 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind
from crosspipe.problem.space import UNREACHABLE

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.space import Space
    from crosspipe.spec.model import Recompute

FIELDS = ("forward_ns", "backward_ns", "weight_ns", "load_ns", "in_flight", "held")


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """One class of devices with one way of recomputing.

    Attributes
    ----------
    way
        What the runs recompute.
    forward, backward, weight, load
        Times in ns.
    in_flight, held
        As `crosspipe.assignment.terms`; 1 where the run does not fit.
    fits
        Whether the run exists, and its weights and one microbatch fit.
    """

    way: Recompute
    forward: IntArray
    backward: IntArray
    weight: IntArray
    load: IntArray
    in_flight: IntArray
    held: IntArray
    fits: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def run_tables(space: Space, most_ns: int) -> tuple[tuple[RunTable, ...], ...]:
    """Tabulate, for each class, every run whose load is at most `most_ns`; one table for each way of recomputing."""
    known: dict[object, tuple[RunTable, ...]] = {}
    found = []
    for number, one in enumerate(space.classes):
        key = (one.rank.time_factor, one.rank.capacity_bytes, number if space.pinned else None)
        if key not in known:
            known[key] = _tables(space, number, most_ns)
        found.append(known[key])
    widest = max(table.forward.shape[1] for tables in found for table in tables)
    return tuple(tuple(_widened(table, widest) for table in tables) for tables in found)


def hop_tables(space: Space) -> tuple[IntArray, IntArray]:
    """Tabulate the hops at every boundary: [end, class before, class after], forward and back, in ns."""
    classes = range(len(space.classes))
    forward = np.zeros((space.items + 1, len(classes), len(classes)), dtype=np.int64)
    back = np.zeros_like(forward)
    known: dict[object, tuple[int, int]] = {}
    for end in range(1, space.items):
        lower = space.stage(end - 1, end, "none")
        for a in classes:
            for b in classes:
                key = (lower.boundary_mb, lower.gradient_mb, a, b)
                if key not in known:
                    there = space.hop_ns(end, a, b, "none", Kind.ACTIVATION)
                    trains = space.run(end - 1, end, a, "none").trains
                    known[key] = (there, space.hop_ns(end, a, b, "none", Kind.GRADIENT) if trains else 0)
                forward[end, a, b], back[end, a, b] = known[key]
    return np.minimum(forward, UNREACHABLE), np.minimum(back, UNREACHABLE)


def _tables(space: Space, device_class: int, most_ns: int) -> tuple[RunTable, ...]:
    rows: dict[Recompute, dict[tuple[int, int], tuple[int, ...]]] = {}
    for first in range(space.items):
        for length in range(1, min(space.longest, space.items - first) + 1):
            least = most_ns + 1
            if not space.allows(first, first + length):
                continue
            for way in space.ways(first, first + length):
                run = space.run(first, first + length, device_class, way)
                least = min(least, run.load_ns)
                if run.load_ns <= most_ns and run.in_flight:
                    row = tuple(int(getattr(run, field)) for field in FIELDS)
                    rows.setdefault(way, {})[first, length - 1] = row
            if least > most_ns:
                break
    if not rows:
        rows["none"] = {}
    return tuple(_table(way, values, space.items) for way, values in rows.items())


def _table(way: Recompute, values: dict[tuple[int, int], tuple[int, ...]], items: int) -> RunTable:
    width = 1 + max((length for _, length in values), default=0)
    columns = np.zeros((len(FIELDS), items, width), dtype=np.int64)
    columns[4:] = 1
    fits = np.zeros((items, width), dtype=np.bool_)
    for place, row in values.items():
        columns[(slice(None), *place)] = row
        fits[place] = True
    forward, backward, weight, load, in_flight, held = columns
    return RunTable(way, forward, backward, weight, load, in_flight, held, fits)


def _widened(table: RunTable, width: int) -> RunTable:
    more = width - table.forward.shape[1]
    if not more:
        return table
    sides = ((0, 0), (0, more))
    ones = (table.in_flight, table.held)
    times = (table.forward, table.backward, table.weight, table.load)
    forward, backward, weight, load = (np.pad(column, sides) for column in times)
    in_flight, held = (np.pad(column, sides, constant_values=1) for column in ones)
    return RunTable(table.way, forward, backward, weight, load, in_flight, held, np.pad(table.fits, sides))
