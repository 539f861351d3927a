"""The axes of a sweep as they are asked for: each a kind, the place that it varies alone, and its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from crosspipe.errors import Fault, OptionError
from crosspipe.spec.faults import closest
from crosspipe.spec.numbers import plain_number
from crosspipe.sweeps.kinds import KINDS

if TYPE_CHECKING:
    from crosspipe.sweeps.kinds import Kind, Setting, Tree
    from crosspipe.sweeps.models import Value

PLACE = ":"
"""Parts the kind of an axis from the site or link that it varies alone: `memory_gb:east`."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a sweep: its name, its kind, the place or None for all, and its values, numbers ascending."""

    name: str
    kind: Kind
    place: str | None
    values: tuple[Setting, ...]

    @property
    def word(self) -> str:
        """Name of what it varies, without the place."""
        return self.name.partition(PLACE)[0]

    def write(self, tree: Tree, value: Setting) -> None:
        """Write a value into a spec."""
        self.kind.write(tree, self.place, value)

    def said(self, value: Setting) -> str:
        """Write a value with its unit, for people."""
        return value_text(self.name, plain(value))


def axis_text(name: str) -> str:
    """Say what an axis varies, for people."""
    word, _, place = name.partition(PLACE)
    return KINDS[word].title + (f" ({place})" if place else "")


def value_text(name: str, value: Value) -> str:
    """Write a value of an axis with its unit, and with its place where it varies one alone, for people."""
    word, _, place = name.partition(PLACE)
    where = f"{place} " if place else ""
    if value is None:
        return f"{where}no transfer time"
    unit = KINDS[word].unit
    text = value if isinstance(value, str) else f"{value:,.10g}"
    return where + text + (unit if unit == "x" else f" {unit}" if unit else "")


def plain(value: Setting) -> Value:
    """Write a value as JSON data."""
    return plain_number(value) if isinstance(value, Decimal) else value


def named_axis(name: str, values: Sequence[object], tree: Tree) -> Axis:
    """Read an axis.

    Raises
    ------
    OptionError
        If there is no such axis, no such place, or no such value.
    """
    word, _, place = name.partition(PLACE)
    kind = KINDS.get(word)
    if kind is None:
        raise OptionError([Fault(f"/axes/{name}", f"must be one of {', '.join(KINDS)}", name, closest(word, KINDS))])
    if PLACE in name or kind.places is not None:
        _require_place(name, place, kind, tree)
    if isinstance(values, str | bytes) or not isinstance(values, Sequence) or not values:
        raise OptionError([Fault(f"/axes/{name}", "must be a list of values", repr(values))])
    known = list(dict.fromkeys(_setting(name, kind, value) for value in values))
    if kind.unit:
        known.sort(key=lambda value: Decimal(value or 0))
    return Axis(name, kind, place or None, tuple(known))


def _require_place(name: str, place: str, kind: Kind, tree: Tree) -> None:
    if kind.places is None:
        raise OptionError([Fault(f"/axes/{name}", "must name no place: it holds for the whole spec", name)])
    places = kind.places(tree)
    if not places:
        raise OptionError([Fault(f"/axes/{name}", "must find a link between two sites in the spec", "none")])
    if PLACE in name and place not in places:
        rule = f"must name one of {', '.join(places)}"
        raise OptionError([Fault(f"/axes/{name}", rule, place, closest(place, places))])


def _setting(name: str, kind: Kind, value: object) -> Setting:
    """Read a value: a word, or a number kept exactly; the spec's own rules say whether it is legal."""
    if not kind.unit and isinstance(value, str):
        return value
    if kind.unit and not isinstance(value, bool) and isinstance(value, int | float | Decimal):
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        if number.is_finite() and not (kind.whole and number != int(number)):
            return int(number) if kind.whole else number
    what = "words" if not kind.unit else "whole numbers" if kind.whole else "numbers"
    raise OptionError([Fault(f"/axes/{name}", f"must hold {what}", _written(value))])


def _written(value: object) -> str:
    """Write a wrong value as it was given: a number of the command line, read exactly, is no `Decimal` to people."""
    return str(value) if isinstance(value, Decimal) else repr(value)
