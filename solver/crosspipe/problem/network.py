"""The network of a spec: its channels, and the route between any two devices."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.problem.channels import Channel, Passage, Timing
from crosspipe.problem.rounding import BITS_PER_GB
from crosspipe.problem.ways import Ways
from crosspipe.problem.windows import windows_of

if TYPE_CHECKING:
    from crosspipe.problem.ranks import Rank
    from crosspipe.spec.cluster import Link
    from crosspipe.spec.model import Spec


class Network:
    """All channels and routes of a spec."""

    def __init__(self, spec: Spec) -> None:
        self._sites = spec.sites
        self._channels: dict[str, Channel] = {}
        self._passages: dict[tuple[str, str], Passage] = {}
        self._unrouted: dict[str, Timing] = {}
        for link in spec.links:
            self._read(link)
        self._ways = Ways(self._passages, self._site_of, self._inside)

    def route(self, sender: Rank, receiver: Rank) -> tuple[Passage, ...] | None:
        """Find the links from one device to another, in the order of the way; None if nothing joins them.

        A single one comes first: the more exactly it names the two, the sooner it is taken; inside a site the site's
        own hop comes last. Where there is none, the way is that of fewest links (`ways`).
        """
        for pair in (
            (sender.name, receiver.name),
            (sender.name, receiver.site),
            (sender.site, receiver.name),
            (sender.site, receiver.site),
        ):
            if pair in self._passages:
                return (self._passages[pair],)
        if sender.site == receiver.site:
            return (self._inside(sender.name, receiver.name),)
        return self._ways.fewest(sender, receiver)

    def lane(self, text: str) -> tuple[Channel, str, Timing] | None:
        """Find the lane that an extra operation names: `group`, `group/out`, `group/back` or `from->to`."""
        if "->" in text:
            sender, _, receiver = text.partition("->")
            passage = self._passages.get((sender.strip(), receiver.strip()))
            return None if passage is None else (passage.channel, passage.direction, passage.timing)
        name, direction = text, "out"
        if text.endswith(("/out", "/back")):
            name, _, direction = text.rpartition("/")
        channel = self._channels.get(name)
        if channel is None:
            return None
        if channel.half:
            direction = "out"
        routed = (p.timing for p in self._passages.values() if p.channel is channel and p.direction == direction)
        return channel, direction, next(routed, self._unrouted.get(name, Timing()))

    def _read(self, link: Link) -> None:
        channel = self._channel(link)
        timing = _timing(link)
        if link.bandwidth_gbps is not None:
            channel.rate_bps = round(link.bandwidth_gbps * BITS_PER_GB)
        latency = Fraction(link.one_way_latency_ms or 0) if link.rtt_ms is None else Fraction(link.rtt_ms) / 2
        directions = _directions(link)
        for pair, direction in directions.items():
            self._passages[pair] = Passage(channel, "out" if channel.half else direction, latency, timing)
        if not directions:
            self._unrouted[channel.name] = timing
        lanes = set(directions.values()) or {"out", "back"}
        kept = channel.clock_windows if link.anchor == "clock" else channel.windows
        for direction in {"out"} if channel.half else lanes:
            kept.setdefault(direction, []).extend(windows_of(link))

    def _channel(self, link: Link) -> Channel:
        if link.group is not None:
            name = link.group
        elif link.between is not None:
            name = "-".join(link.between)
        else:
            name = f"{link.from_}->{link.to}"
        while link.group is None and name in self._channels:
            name += "'"  # two ungrouped links never share a channel, however their places are spelt
        return self._channels.setdefault(name, Channel(name, link.duplex == "half", link.per_replica))

    def _site_of(self, place: str) -> str:
        return place if place in self._sites else place.rpartition("/")[0]

    def _inside(self, sender: str, receiver: str) -> Passage:
        site = self._sites[self._site_of(sender)]
        name = f"{sender}->{receiver}"
        channel = self._channels.setdefault(name, Channel(name, half=True, per_replica=True))
        timing = Timing(bandwidth_gbps=site.hop_bandwidth_gbps)
        if site.hop_bandwidth_gbps is not None:
            channel.rate_bps = round(site.hop_bandwidth_gbps * BITS_PER_GB)
        return Passage(channel, "out", Fraction(site.hop_latency_ms or 0), timing)


def _timing(link: Link) -> Timing:
    table = None if link.transfer_table is None else tuple(link.transfer_table)
    return Timing(link.bandwidth_gbps, link.transfer_ms, table)


def _directions(link: Link) -> dict[tuple[str, str], str]:
    if link.between is not None:
        a, b = link.between
        return {(a, b): "out", (b, a): "back"}
    if link.from_ is not None and link.to is not None:
        return {(link.from_, link.to): link.lane or "out"}
    return {}
