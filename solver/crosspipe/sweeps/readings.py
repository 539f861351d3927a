"""What a sweep says to the questions it is run for: how much memory buys a latency back, when a network is free.

A reading is always a value of the sweep, never one in between. It is proved if it holds wherever the optima lie between
the values that were reached and the bounds that were proved.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from crosspipe.answer.summary import ms, percent
from crosspipe.errors import Fault, OptionError
from crosspipe.sweeps.comparison import Comparison
from crosspipe.sweeps.kinds import BANDWIDTH, LATENCY, MEMORY, MEMORY_GB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crosspipe.spec.model import Spec
    from crosspipe.sweeps.axes import Axis
    from crosspipe.sweeps.grid import Grid, Place
    from crosspipe.sweeps.models import SweepPoint, SweepReading
    from crosspipe.sweeps.settle import Points

TOLERANCE = 0.01
"""Share by which a value may be longer and still count as no loss."""


def require_tolerance(tolerance: float) -> None:
    """Refuse a tolerance that is no share.

    Raises
    ------
    OptionError
        If it is not from 0 to 1.
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance <= 1:
        raise OptionError([Fault("/tolerance", "must be a number from 0 to 1", repr(tolerance), _nearest(tolerance))])


def _nearest(tolerance: object) -> str:
    if isinstance(tolerance, int | float) and not isinstance(tolerance, bool) and not isnan(tolerance):
        return "0" if tolerance < 0 else "1"
    return str(TOLERANCE)


def readings_of(grid: Grid, points: Points, spec: Spec, tolerance: float) -> list[SweepReading]:
    """Read a sweep; points that are missing leave their readings out."""
    table = Comparison(grid, points, tolerance)
    memory = table.number(MEMORY_GB, MEMORY)
    latency, bandwidth = table.number(LATENCY), table.number(BANDWIDTH)
    found: list[SweepReading] = []
    if memory is not None and latency is not None:
        found += _memory_buys(table, memory, latency, spec)
    if latency is not None:
        found += _tolerated(table, latency)
    if bandwidth is not None:
        found += _free(table, bandwidth)
    return found


def _with(place: Place, changes: Iterable[tuple[int, int]]) -> Place:
    moved = list(place)
    for axis, at in changes:
        moved[axis] = at
    return tuple(moved)


def _memory_buys(table: Comparison, memory: int, latency: int, spec: Spec) -> Iterator[SweepReading]:
    """Say how much memory makes up for each latency, against the spec's own memory at the least latency."""
    sizes, delays = table.grid.axes[memory], table.grid.axes[latency]
    base = _base(sizes, spec)
    for rest in table.combinations(memory, latency):
        reference = table.points.get(_with(rest, [(memory, base)]))
        for delay in range(1, len(delays.values)):
            row = [_with(rest, [(latency, delay), (memory, size)]) for size in range(base, len(sizes.values))]
            if reference is None or not all(place in table.points for place in row):
                continue
            place, proved = table.first(row, reference)
            where = table.where(row[0], memory, latency)
            far, near = (delays.said(delays.values[at]) for at in (delay, 0))
            against = f"{ms(reference.value_ms)} with {sizes.said(sizes.values[base])} at {near}"
            if reference.value_ms is None:
                continue
            if place is None:
                last = table.points[row[-1]]
                most = sizes.said(sizes.values[-1])
                sentence = (
                    f"{where}no memory up to {most} buys back {far}: {_taken(last)} with {most}, against {against}"
                )
            else:
                enough = sizes.said(sizes.values[place[memory]])
                buys = "need no more than" if place[memory] == base else "are bought back by"
                sentence = f"{where}{far} {buys} {enough}: {_taken(table.points[place])}, against {against}"
            yield table.reading("memory_buys_latency", memory, place, row[0], reference, proved, sentence)


def _base(sizes: Axis, spec: Spec) -> int:
    """Place of the spec's own memory on the axis, else of the least."""
    pools = [pool for site in spec.sites.values() for pool in (site.pools or [site])]
    own = {1} if sizes.word == MEMORY else {pool.memory_gb for pool in pools}
    return next((at for at, value in enumerate(sizes.values) if own == {value}), 0)


def _tolerated(table: Comparison, latency: int) -> Iterator[SweepReading]:
    """Find the longest latency that costs no more than the tolerance, for each value of the other axes."""
    delays = table.grid.axes[latency]
    for rest in table.combinations(latency):
        column = [_with(rest, [(latency, delay)]) for delay in range(len(delays.values))]
        reference = table.points.get(column[0])
        if len(column) < 2 or reference is None or reference.value_ms is None:
            continue
        if not all(place in table.points for place in column):
            continue
        near = [table.near(table.points[place], reference) for place in column]
        last = near.index(False) - 1 if False in near else len(column) - 1
        beyond = last + 1 == len(column) or table.surely_not(table.points[column[last + 1]], reference)
        proved = beyond and (last == 0 or table.sure(table.points[column[last]], reference))
        where = table.where(column[0], latency)
        longest, least = delays.said(delays.values[last]), delays.said(delays.values[0])
        beyond_it = _cost(delays, table.points[column[last + 1]], last + 1, reference) if last + 1 < len(column) else ""
        if last:
            taken = f"{_taken(table.points[column[last]])}, against {ms(reference.value_ms)} at {least}"
            cost = table.cost(table.points[column[last]], reference)
            sentence = f"{where}up to {longest} {cost}: {taken}" + (f"; {beyond_it}" if beyond_it else "")
        else:
            sentence = f"{where}no latency of the sweep above {least} is free: {beyond_it}"
        yield table.reading("latency_tolerated", latency, column[last], column[0], reference, proved, sentence)


def _free(table: Comparison, bandwidth: int) -> Iterator[SweepReading]:
    """Find the bandwidth from which on transfers cost no more than that, for each value of the other axes."""
    rates = table.grid.axes[bandwidth]
    if table.grid.left_out is not None:
        return
    for rest in table.combinations(bandwidth):
        row = [_with(rest, [(bandwidth, rate)]) for rate in range(len(rates.values))]
        reference = table.points.get(_with(rest, [(bandwidth, len(rates.values))]))
        if reference is None or reference.value_ms is None or not all(place in table.points for place in row):
            continue
        place, proved = table.first(row, reference)
        where = table.where(row[0], bandwidth)
        against = f"{ms(reference.value_ms)} where transfers take no time"
        if place is None:
            most = rates.said(rates.values[-1])
            sentence = f"{where}no bandwidth up to {most} is free: {_taken(table.points[row[-1]])}, against {against}"
        else:
            enough = rates.said(rates.values[place[bandwidth]])
            cost = table.cost(table.points[place], reference)
            sentence = f"{where}from {enough} on transfers {cost}: {_taken(table.points[place])}, against {against}"
        yield table.reading("bandwidth_free", bandwidth, place, row[0], reference, proved, sentence)


def _taken(point: SweepPoint) -> str:
    if point.value_ms is None:
        return "no schedule exists" if point.status == "infeasible" else "no schedule is known"
    return ms(point.value_ms)


def _cost(delays: Axis, point: SweepPoint, at: int, reference: SweepPoint) -> str:
    delay = delays.said(delays.values[at])
    if point.value_ms is None or not reference.value_ms:
        return f"at {delay} {_taken(point)}"
    over = percent(point.value_ms / reference.value_ms - 1)
    return f"{delay} cost {over} ({ms(point.value_ms)}, against {ms(reference.value_ms)})"
