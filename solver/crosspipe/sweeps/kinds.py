"""What a sweep can vary: how a value is written into a spec, which way is better, and its unit."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from crosspipe.costs.catalogue import accelerator_named
from crosspipe.errors import Fault, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

Tree = dict[str, Any]
"""A spec as plain data."""

Setting = Decimal | int | str | None
"""A value of an axis; None on a bandwidth axis = no bandwidth at all, so that transfers take no time."""


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


def _latency(tree: Tree, place: str | None, value: Setting) -> None:
    """Multiply each link's own latency."""
    for link in _links(tree, place):
        for field in ("one_way_latency_ms", "rtt_ms"):
            if link.get(field) is not None:
                link[field] = _times(link[field], value)


def _bandwidth(tree: Tree, place: str | None, value: Setting) -> None:
    """Multiply each link's own rates, and divide the times of its messages."""
    if not value:
        raise OptionError([Fault("/axes/bandwidth", "must hold factors above 0", "0")])
    shorter = 1 / Decimal(value)
    for link in _links(tree, place):
        if link.get("bandwidth_gbps") is not None:
            link["bandwidth_gbps"] = _times(link["bandwidth_gbps"], value)
        if link.get("transfer_ms") is not None:
            link["transfer_ms"] = _times(link["transfer_ms"], shorter)
        if link.get("transfer_table") is not None:
            link["transfer_table"] = [[mb, _times(ms, shorter)] for mb, ms in link["transfer_table"]]
        if link.get("slow_ms") is not None:
            link["slow_ms"] = [[start, end, _times(gbps, value)] for start, end, gbps in link["slow_ms"]]


def _times(known: object, factor: Setting) -> Decimal:
    """Multiply, to as many digits as a spec may have."""
    return round(Decimal(str(known)) * Decimal(factor or 0), DIGITS).normalize()


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


BANDWIDTH, LATENCY, MEMORY, MEMORY_GB = "bandwidth_gbps", "latency_ms", "memory", "memory_gb"
BANDWIDTH_FACTOR, LATENCY_FACTOR = "bandwidth", "latency"

SAME = ((MEMORY, MEMORY_GB), (LATENCY_FACTOR, LATENCY), (BANDWIDTH_FACTOR, BANDWIDTH))
"""Factors, and what sets the same amounts outright."""

DIGITS = 6
"""Decimals to which a multiplied amount is kept."""

KINDS = {
    MEMORY_GB: Kind(_memory_gb, 1, "GB", "memory per device", places=_sites),
    MEMORY: Kind(_memory, 1, "x", "memory per device, as a factor of its own", places=_sites),
    LATENCY: Kind(_latency_ms, -1, "ms", "one-way latency", places=_link_names),
    BANDWIDTH: Kind(_bandwidth_gbps, 1, "Gb/s", "bandwidth", places=_link_names),
    LATENCY_FACTOR: Kind(_latency, -1, "x", "one-way latency, as a factor of each link's own", places=_link_names),
    BANDWIDTH_FACTOR: Kind(_bandwidth, 1, "x", "bandwidth, as a factor of each link's own", places=_link_names),
    "microbatches": Kind(_microbatches, 0, "microbatches", "microbatches", whole=True),
    "in_flight": Kind(_in_flight, 1, "in flight", "most microbatches in flight", whole=True),
    "traversal": Kind(_traversal, 0, "", "traversal"),
}
"""Every axis there is, by name."""
