"""Latencies: round trips given as one way, stand-ins for "unreachable", outliers, none at all."""

from __future__ import annotations

from decimal import Decimal
from statistics import median
from typing import TYPE_CHECKING

from crosspipe.spec.faults import pointer
from crosspipe.spec.notice import Notice
from crosspipe.spec.numbers import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.spec.cluster import Link
    from crosspipe.spec.model import Spec

LONGEST_ONE_WAY_MS = Decimal(150)
"""The longest routes between regions take about 300 ms there and back; light needs 100 ms half way round the earth."""

UNREACHABLE_MS = Decimal(10_000)
"""Public tables write "unreachable" as a huge integer; no route takes ten seconds."""

OUTLIER = 20
"""A latency that many times the median of its table deserves a second look."""

FEWEST_FOR_OUTLIERS = 4


def site_links(spec: Spec) -> Iterator[tuple[int, str, Link]]:
    """Walk the links between two sites: number, `a and b`, link."""
    for number, link in enumerate(spec.links):
        ends = link.between or (link.from_, link.to)
        if all(end in spec.sites for end in ends):
            yield number, " and ".join(str(end) for end in ends), link


def one_way_ms(link: Link) -> Decimal | None:
    """Give the one-way latency of a link, None if it states none."""
    return link.one_way_latency_ms if link.rtt_ms is None else link.rtt_ms / 2


def round_trip_as_one_way(spec: Spec) -> Iterator[Notice]:
    """Tell of one-way latencies that no route needs."""
    for number, pair, link in site_links(spec):
        latency = link.one_way_latency_ms
        if latency is not None and LONGEST_ONE_WAY_MS < latency < UNREACHABLE_MS:
            yield Notice(
                "rtt_as_one_way",
                pointer(("links", number, "one_way_latency_ms")),
                f"{plain_text(latency)} ms one way between {pair} is more than the longest routes take (about "
                f"{LONGEST_ONE_WAY_MS} ms); if it was measured there and back (ping), write it as `rtt_ms`",
            )


def unreachable(spec: Spec) -> Iterator[Notice]:
    """Tell of latencies that stand for no route at all."""
    for number, pair, link in site_links(spec):
        latency = one_way_ms(link)
        if latency is not None and latency >= UNREACHABLE_MS:
            yield Notice(
                "unreachable_as_latency",
                pointer(("links", number, "one_way_latency_ms" if link.rtt_ms is None else "rtt_ms")),
                f"{plain_text(latency)} ms one way between {pair}: tables write `unreachable` as such a number; if "
                "there is no route, leave the link out",
            )


def latency_outlier(spec: Spec) -> Iterator[Notice]:
    """Tell of a latency far above the others."""
    known = [(number, pair, link, latency) for number, pair, link in site_links(spec) if (latency := one_way_ms(link))]
    if len(known) < FEWEST_FOR_OUTLIERS:
        return
    middle = median(latency for *_, latency in known)
    for number, pair, link, latency in known:
        if OUTLIER * middle <= latency < UNREACHABLE_MS:
            yield Notice(
                "latency_outlier",
                pointer(("links", number, "one_way_latency_ms" if link.rtt_ms is None else "rtt_ms")),
                f"{plain_text(latency)} ms one way between {pair} is {round(latency / middle)} times the median of the "
                f"links, {plain_text(middle)} ms",
            )


def no_latency(spec: Spec) -> Iterator[Notice]:
    """Tell of links between sites that state no latency."""
    for number, pair, link in site_links(spec):
        if one_way_ms(link) is None and link.regions is None:
            yield Notice(
                "latency_missing",
                pointer(("links", number)),
                f"the link between {pair} states no latency, so 0 ms is taken; light needs 5 ms per 1000 km one way",
            )
