"""Latency and bandwidth between cloud regions that are known by name, for links that do not give their own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from crosspipe.costs.assumption import Assumption
from crosspipe.errors import Fault, SpecError
from crosspipe.spec.faults import closest, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.spec.cluster import Link
    from crosspipe.spec.model import Spec

MOST_NAMED = 4
"""Known partners told of a region whose pair is not known."""


@dataclass(frozen=True, slots=True)
class RegionPair:
    """What was measured between two regions, both ways alike.

    Attributes
    ----------
    between
        Their names, such as `aws:oregon`.
    latency_ms
        Latency in ms, one way or round trip.
    round_trip
        Which of the two it is.
    bandwidth_gbps
        Bandwidth of one connection in Gb/s, None where it was not measured.
    source
        Where the numbers were read.
    told
        How it is known which of the two the latency is.
    """

    between: tuple[str, str]
    latency_ms: Decimal
    round_trip: bool
    bandwidth_gbps: Decimal | None
    source: str
    told: str

    @property
    def one_way_ms(self) -> Decimal:
        """Latency of one direction."""
        return self.latency_ms / 2 if self.round_trip else self.latency_ms


@cache
def region_pairs() -> tuple[RegionPair, ...]:
    """List the pairs that are known, in the order of the file; of a pair in several tables the first counts."""
    found: dict[frozenset[str], RegionPair] = {}
    for table in _data()["tables"]:
        for first, second, latency, *rate in table["pairs"]:
            between = (f"{table['provider']}:{first}", f"{table['provider']}:{second}")
            pair = RegionPair(
                between,
                latency,
                table["latency"] == "rtt",
                rate[0] if rate else None,
                table["source"],
                table["latency_told"],
            )
            found.setdefault(frozenset(between), pair)
    return tuple(found.values())


def left_out() -> tuple[tuple[str, str, str], ...]:
    """List the pairs that a source has but this catalogue leaves out, and why."""
    return tuple((first, second, why) for first, second, why in _data()["left_out"])


def region_pair(first: str, second: str, pointer: str) -> RegionPair:
    """Look up what is known between two regions, letter case aside.

    Raises
    ------
    SpecError
        If nothing is known; the fault names the nearest pairs that are.
    """
    asked = frozenset((first.lower(), second.lower()))
    found = next((pair for pair in region_pairs() if frozenset(pair.between) == asked), None)
    if found is None:
        raise SpecError([_unknown(first, second, pointer)])
    return found


def resolve_regions(links: Sequence[Link]) -> tuple[list[Link], tuple[Assumption, ...]]:
    """Fill in what links between named regions do not give themselves.

    Returns
    -------
    tuple
        The links without `regions`, and what was taken from the table.

    Raises
    ------
    SpecError
        If nothing is known between two regions.
    """
    resolved: list[Link] = []
    told: list[Assumption] = []
    for number, link in enumerate(links):
        if link.regions is None:
            resolved.append(link)
            continue
        pointer = f"/links/{number}"
        pair = region_pair(*link.regions, f"{pointer}/regions")
        update: dict[str, object] = {"regions": None}
        if link.one_way_latency_ms is None and link.rtt_ms is None:
            field, word = ("rtt_ms", "there and back") if pair.round_trip else ("one_way_latency_ms", "one way")
            update[field] = pair.latency_ms
            told.append(
                _taken(pair, f"{pointer}/{field}", f"{pair.latency_ms} ms {word}", f"{pair.source}; {pair.told}")
            )
        if link.bandwidth_gbps is None and link.transfer_ms is None and link.transfer_table is None:
            update["bandwidth_gbps"] = pair.bandwidth_gbps
            at = f"{pointer}/bandwidth_gbps"
            if pair.bandwidth_gbps is None:
                text = "none: messages queue nowhere"
                told.append(_taken(pair, at, text, f"no bandwidth is known there ({pair.source})"))
            else:
                why = f"{pair.source}; one connection, several reach more"
                told.append(_taken(pair, at, f"{pair.bandwidth_gbps} Gb/s", why))
        resolved.append(link.model_copy(update=update))
    return resolved, tuple(told)


def with_regions(spec: Spec) -> Spec:
    """Write a spec whose links give all numbers themselves.

    Raises
    ------
    SpecError
        If nothing is known between two regions.
    """
    return spec.model_copy(update={"links": resolve_regions(spec.links)[0]})


def _taken(pair: RegionPair, pointer: str, value: str, why: str) -> Assumption:
    field = pointer.rpartition("/")[2]
    return Assumption(pointer, value, f"{' to '.join(pair.between)}: {why}", f"{field} of the link")


def _unknown(first: str, second: str, pointer: str) -> Fault:
    asked = f"{shown(first)} and {shown(second)}"
    for one, other, why in left_out():
        if {one, other} == {first.lower(), second.lower()}:
            return Fault(pointer, f"a pair that is known; this one is left out: {why}", asked)
    names = list(dict.fromkeys(name for pair in region_pairs() for name in pair.between))
    unknown = [name for name in (first, second) if name.lower() not in names]
    if unknown:
        near = [found for name in unknown if (found := closest(name, names)) is not None]
        rule = "two regions whose latency is known, such as `aws:oregon` and `aws:virginia` (`crosspipe spec regions`)"
        return Fault(pointer, rule, asked, ", ".join(near) or None)
    partners = {name: _partners(name.lower()) for name in (first, second)}
    known = "; ".join(f"{name} with {', '.join(others[:MOST_NAMED])}" for name, others in partners.items())
    rule = "a pair whose latency is known (`crosspipe spec regions`); otherwise give the link its own numbers"
    return Fault(pointer, rule, asked, known)


def _partners(name: str) -> list[str]:
    """Name the regions with which a region's latency is known, the nearest first."""
    pairs = sorted((pair for pair in region_pairs() if name in pair.between), key=lambda pair: pair.one_way_ms)
    return [other for pair in pairs for other in pair.between if other != name]


@cache
def _data() -> dict[str, Any]:
    text = files("crosspipe.costs").joinpath("data/regions.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    return found
