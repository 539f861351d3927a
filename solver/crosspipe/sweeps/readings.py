"""What a sweep says to the questions it is run for: how much memory buys a latency back, when a network is free.

A reading is always a value of the sweep, never one in between. It is proved if it holds wherever the optima lie between
the values that were reached and the bounds that were proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import isnan
from typing import TYPE_CHECKING

from crosspipe.answer.summary import ms, percent
from crosspipe.errors import Fault, OptionError
from crosspipe.sweeps.axes import BANDWIDTH, LATENCY, MEMORY, MEMORY_GB, PLACE, plain
from crosspipe.sweeps.models import SweepReading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crosspipe.spec.model import Spec
    from crosspipe.sweeps.axes import Axis
    from crosspipe.sweeps.grid import Grid, Place
    from crosspipe.sweeps.models import SweepPoint
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
    table = _Table(grid, points, tolerance)
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


@dataclass(frozen=True, slots=True)
class _Table:
    """The points by place, and how they compare."""

    grid: Grid
    points: Points
    tolerance: float

    def number(self, *kinds: str) -> int | None:
        """Find an axis by its kind: the one that varies everywhere, else the first for one place."""
        axes = [(number, axis.name) for number, axis in enumerate(self.grid.axes)]
        whole = [number for number, name in axes if name in kinds]
        placed = [number for number, name in axes if name.partition(PLACE)[0] in kinds]
        return next(iter(whole + placed), None)

    def combinations(self, *free: int) -> Iterator[Place]:
        """List the places on all axes but `free`, which stand at 0."""
        ranges = [[0] if number in free else range(len(axis.values)) for number, axis in enumerate(self.grid.axes)]
        yield from product(*ranges)

    def sure(self, one: SweepPoint | None, other: SweepPoint | None) -> bool:
        """Whether `one` is within the tolerance of `other` wherever the two optima lie."""
        if one is None or other is None or one.value_ms is None or other.lower_bound_ms is None:
            return False
        return one.value_ms <= (1 + self.tolerance) * other.lower_bound_ms

    def surely_not(self, one: SweepPoint | None, other: SweepPoint | None) -> bool:
        """Whether `one` is not, wherever they lie."""
        if one is None or other is None or other.value_ms is None:
            return False
        if one.status == "infeasible":
            return True
        return one.lower_bound_ms is not None and one.lower_bound_ms > (1 + self.tolerance) * other.value_ms

    def near(self, one: SweepPoint | None, other: SweepPoint | None) -> bool:
        """Whether the value of `one` is within the tolerance of that of `other`."""
        if one is None or other is None or one.value_ms is None or other.value_ms is None:
            return False
        return one.value_ms <= (1 + self.tolerance) * other.value_ms

    def cost(self, one: SweepPoint, other: SweepPoint) -> str:
        """Say what a point that is near to another costs against it: nothing, or what the tolerance lets pass."""
        if one.value_ms is not None and other.value_ms is not None and one.value_ms <= other.value_ms:
            return "cost nothing"
        return f"cost at most {100 * self.tolerance:.10g} %"

    def first(self, places: Sequence[Place], other: SweepPoint | None) -> tuple[Place | None, bool]:
        """Find the first of some places near to a point, and say whether that is proved."""
        for number, place in enumerate(places):
            if self.near(self.points.get(place), other):
                before = all(self.surely_not(self.points.get(one), other) for one in places[:number])
                return place, before and self.sure(self.points.get(place), other)
        return None, bool(places) and all(self.surely_not(self.points.get(one), other) for one in places)

    def where(self, place: Place, *left_out: int) -> str:
        """Say where a place stands on the axes that are not left out."""
        settings = self.grid.points[place].settings
        said = [axis.said(settings[number]) for number, axis in enumerate(self.grid.axes) if number not in left_out]
        return f"At {', '.join(said)}: " if said else ""

    def reading(
        self,
        kind: str,
        axis: int,
        place: Place | None,
        asked: Place,
        reference: SweepPoint | None,
        proved: bool,
        sentence: str,
    ) -> SweepReading:
        """Put a reading together; `asked` says where it holds."""
        at = {name: value for name, value in self.grid.at(asked).items() if name != self.grid.axes[axis].name}
        reached = None if place is None else self.points[place].value_ms
        known = "" if proved else " (as far as values and bounds are known: not proved)"
        return SweepReading.model_validate(
            {
                "kind": kind,
                "at": at,
                "axis": self.grid.axes[axis].name,
                "value": None if place is None else plain(self.grid.points[place].settings[axis]),
                "reached_ms": reached,
                "reference_ms": None if reference is None else reference.value_ms,
                "tolerance": self.tolerance,
                "proved": proved,
                "sentence": f"{sentence}{known}.",
            }
        )


def _with(place: Place, changes: Iterable[tuple[int, int]]) -> Place:
    moved = list(place)
    for axis, at in changes:
        moved[axis] = at
    return tuple(moved)


def _memory_buys(table: _Table, memory: int, latency: int, spec: Spec) -> Iterator[SweepReading]:
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
    own = {1} if sizes.name.partition(PLACE)[0] == MEMORY else {pool.memory_gb for pool in pools}
    return next((at for at, value in enumerate(sizes.values) if own == {value}), 0)


def _tolerated(table: _Table, latency: int) -> Iterator[SweepReading]:
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
        if not where:
            sentence = sentence[0].upper() + sentence[1:]
        yield table.reading("latency_tolerated", latency, column[last], column[0], reference, proved, sentence)


def _free(table: _Table, bandwidth: int) -> Iterator[SweepReading]:
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
        if not where:
            sentence = sentence[0].upper() + sentence[1:]
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
