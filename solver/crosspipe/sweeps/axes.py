"""The axes of a sweep: what can be varied, which way is better, and how a value is written into a spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from crosspipe.costs.catalogue import accelerator_named
from crosspipe.errors import Fault, OptionError
from crosspipe.spec.faults import closest
from crosspipe.spec.numbers import plain_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.sweeps.models import Value

Tree = dict[str, Any]
"""A spec as plain data."""

Setting = Decimal | int | str | None
"""A value of an axis; None on a bandwidth axis = no bandwidth at all, so that transfers take no time."""

PLACE = ":"
"""Parts the kind of an axis from the site or link that it varies alone: `memory_gb:east`."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What can be varied.

    Attributes
    ----------
    write
        Writes a value into a spec: its tree, the place or None for all, the value.
    better
        1 where larger values are never worse, -1 where smaller ones are, 0 where neither holds.
    unit
        As in sentences; empty for words.
    title
        What varies, in words.
    whole
        Whether values are whole numbers.
    places
        Names the places of a spec that can be varied alone; None where there are none.
    """

    write: Callable[[Tree, str | None, Setting], None]
    better: int
    unit: str
    title: str
    whole: bool = False
    places: Callable[[Tree], list[str]] | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a sweep: its name, its kind, the place or None for all, and its values, numbers ascending."""

    name: str
    kind: Kind
    place: str | None
    values: tuple[Setting, ...]

    def write(self, tree: Tree, value: Setting) -> None:
        """Write a value into a spec."""
        self.kind.write(tree, self.place, value)

    def said(self, value: Setting) -> str:
        """Write a value with its unit, for people."""
        return value_text(self.name, plain(value))


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


def _pools(tree: Tree, place: str | None) -> list[Tree]:
    sites = [site for name, site in tree["sites"].items() if place in (None, name)]
    return [pool for site in sites for pool in (site.get("pools") or [site])]


def _memory_gb(tree: Tree, place: str | None, value: Setting) -> None:
    for pool in _pools(tree, place):
        pool["memory_gb"] = value


def _memory(tree: Tree, place: str | None, value: Setting) -> None:
    """Multiply each device's own memory, that of the catalogue where the spec leaves it to it."""
    for pool in _pools(tree, place):
        known = pool.get("memory_gb")
        if known is None and pool.get("gpu") is not None:
            known = accelerator_named(pool["gpu"], "/sites").memory_gb
        if known is None:
            rule = "must have a memory to multiply: give each site its `memory_gb`, or vary `memory_gb` in place of it"
            raise OptionError([Fault("/axes/memory", rule, "a site without")])
        if isinstance(value, Decimal):
            pool["memory_gb"] = Decimal(str(known)) * value


def _links(tree: Tree, place: str | None) -> list[Tree]:
    """List the links between two sites, or the one named."""
    if place is not None:
        return [link for link in tree.get("links", []) if place in _called(link)]
    return [link for link in tree.get("links", []) if _joins_sites(link)]


def _ends(link: Tree) -> tuple[str, ...]:
    return tuple(link.get("between") or [link[end] for end in ("from", "to") if link.get(end) is not None])


def _joins_sites(link: Tree) -> bool:
    return len({end.partition("/")[0] for end in _ends(link)}) > 1


def _called(link: Tree) -> list[str]:
    """Names of a link: its ends (`east-west`, `east->west`), and its group."""
    ends = ("->" if link.get("from") is not None else "-").join(_ends(link))
    return [name for name in (ends, link.get("group")) if name]


def _link_names(tree: Tree) -> list[str]:
    return list(dict.fromkeys(name for link in _links(tree, None) for name in _called(link)))


def _latency_ms(tree: Tree, place: str | None, value: Setting) -> None:
    for link in _links(tree, place):
        link.pop("rtt_ms", None)
        link["one_way_latency_ms"] = value


def _bandwidth_gbps(tree: Tree, place: str | None, value: Setting) -> None:
    for link in _links(tree, place):
        for other in ("bandwidth_gbps", "transfer_ms", "transfer_table"):
            link.pop(other, None)
        if value is not None:
            link["bandwidth_gbps"] = value


def _microbatches(tree: Tree, _place: str | None, value: Setting) -> None:
    tree["training"].pop("global_batch", None)
    tree["training"]["microbatches"] = value


def _in_flight(tree: Tree, _place: str | None, value: Setting) -> None:
    tree.setdefault("limits", {})["in_flight"] = value


def _traversal(tree: Tree, _place: str | None, value: Setting) -> None:
    """Where the model is cut for the placement, a loop or wave has two stages per device at least."""
    placement = tree.setdefault("placement", {})
    placement.pop("map", None)
    placement["traversal"] = value
    model = tree["model"]
    if isinstance(model, dict) and "stages" in model:
        return
    if value == "unidirectional":
        placement.pop("stages_per_device", None)
    elif value in ("loop", "wave"):
        placement["stages_per_device"] = max(2, placement.get("stages_per_device", 1))


def _sites(tree: Tree) -> list[str]:
    return list(tree["sites"])


def axis_text(name: str) -> str:
    """Say what an axis varies, for people."""
    word, _, place = name.partition(PLACE)
    return KINDS[word].title + (f" ({place})" if place else "")


BANDWIDTH, LATENCY, MEMORY, MEMORY_GB = "bandwidth_gbps", "latency_ms", "memory", "memory_gb"

KINDS = {
    MEMORY_GB: Kind(_memory_gb, 1, "GB", "memory per device", places=_sites),
    MEMORY: Kind(_memory, 1, "x", "memory per device, as a factor of its own", places=_sites),
    LATENCY: Kind(_latency_ms, -1, "ms", "one-way latency", places=_link_names),
    BANDWIDTH: Kind(_bandwidth_gbps, 1, "Gb/s", "bandwidth", places=_link_names),
    "microbatches": Kind(_microbatches, 0, "microbatches", "microbatches", whole=True),
    "in_flight": Kind(_in_flight, 1, "in flight", "most microbatches in flight", whole=True),
    "traversal": Kind(_traversal, 0, "", "traversal"),
}
"""Every axis there is, by name."""

__all__ = [
    "BANDWIDTH",
    "KINDS",
    "LATENCY",
    "MEMORY",
    "MEMORY_GB",
    "PLACE",
    "Axis",
    "Setting",
    "Tree",
    "axis_text",
    "named_axis",
    "plain",
    "value_text",
]
