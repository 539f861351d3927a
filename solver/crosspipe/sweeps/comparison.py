"""Points of a sweep held against each other: which come within the tolerance of which, and whether that is proved."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from crosspipe.sweeps.axes import plain
from crosspipe.sweeps.models import SweepReading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.sweeps.grid import Grid, Place
    from crosspipe.sweeps.models import SweepPoint
    from crosspipe.sweeps.settle import Points


@dataclass(frozen=True, slots=True)
class Comparison:
    """The points by place, and how they compare."""

    grid: Grid
    points: Points
    tolerance: float

    def number(self, *kinds: str) -> int | None:
        """Find an axis by its kind: the one that varies everywhere, else the first for one place."""
        found = [number for number, axis in enumerate(self.grid.axes) if axis.word in kinds]
        return min(found, key=lambda number: self.grid.axes[number].place is not None, default=None)

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
                "sentence": f"{sentence[0].upper()}{sentence[1:]}{known}.",
            }
        )
