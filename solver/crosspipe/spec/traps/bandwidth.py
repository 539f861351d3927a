"""Bandwidths: bytes for bits, outliers, unlike directions."""

from __future__ import annotations

from decimal import Decimal
from statistics import median
from typing import TYPE_CHECKING

from crosspipe.spec.faults import pointer
from crosspipe.spec.notice import Notice
from crosspipe.spec.numbers import plain_text
from crosspipe.spec.rules.channels import directed_pairs
from crosspipe.spec.traps.latency import FEWEST_FOR_OUTLIERS, site_links

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.spec.model import Spec

LARGEST_GBPS = Decimal(3200)
"""More than eight 400 Gb/s ports between two sites is rare; a number in the wrong unit is not."""

OUTLIER = 100
ASYMMETRIC = 10


def implausible_bandwidth(spec: Spec) -> Iterator[Notice]:
    """Tell of more bandwidth between sites than is usually built."""
    for number, pair, link in site_links(spec):
        rate = link.bandwidth_gbps
        if rate is not None and rate > LARGEST_GBPS:
            yield Notice(
                "bandwidth_implausible",
                pointer(("links", number, "bandwidth_gbps")),
                f"{plain_text(rate)} Gb/s between {pair} is more than eight ports of 400 Gb/s; the field counts bits: "
                f"{plain_text(rate)} Mb/s would be {plain_text(rate / 1000)}",
            )


def bandwidth_outlier(spec: Spec) -> Iterator[Notice]:
    """Tell of a bandwidth a hundred times below or above the others."""
    known = [(number, pair, rate) for number, pair, link in site_links(spec) if (rate := link.bandwidth_gbps)]
    if len(known) < FEWEST_FOR_OUTLIERS:
        return
    middle = median(rate for *_, rate in known)
    for number, pair, rate in known:
        ratio = max(rate / middle, middle / rate)
        if ratio >= OUTLIER:
            side = "below" if rate < middle else "above"
            yield Notice(
                "bandwidth_outlier",
                pointer(("links", number, "bandwidth_gbps")),
                f"{plain_text(rate)} Gb/s between {pair} is {round(ratio)} times {side} the median of the links, "
                f"{plain_text(middle)} Gb/s",
            )


def unlike_directions(spec: Spec) -> Iterator[Notice]:
    """Tell of two directions whose bandwidths are far apart."""
    rates = {
        pair: (number, link.bandwidth_gbps)
        for number, link in enumerate(spec.links)
        if link.between is None and link.bandwidth_gbps is not None
        for pair in directed_pairs(link)
    }
    for (sender, receiver), (number, rate) in rates.items():
        _, back = rates.get((receiver, sender), (number, rate))
        if rate * ASYMMETRIC < back:
            yield Notice(
                "bandwidth_asymmetric",
                pointer(("links", number, "bandwidth_gbps")),
                f"{plain_text(rate)} Gb/s from {sender} to {receiver}, but {plain_text(back)} Gb/s back: "
                f"{round(back / rate)} times as much",
            )
