"""The network of a spec: its channels, and the route between any two devices."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.problem.channels import Channel, Route, Timing
from crosspipe.problem.rounding import BITS_PER_GB
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
        self._routes: dict[tuple[str, str], Route] = {}
        self._unrouted: dict[str, Timing] = {}
        for link in spec.links:
            self._read(link)

    def route(self, sender: Rank, receiver: Rank) -> Route | None:
        """Find the route between two devices, None if nothing joins them.

        The more exactly a link names the two, the sooner it is taken; inside a site the site's own hop comes last.
        """
        for pair in (
            (sender.name, receiver.name),
            (sender.name, receiver.site),
            (sender.site, receiver.name),
            (sender.site, receiver.site),
        ):
            if pair in self._routes:
                return self._routes[pair]
        return self._inside(sender, receiver) if sender.site == receiver.site else None

    def lane(self, text: str) -> tuple[Channel, str, Timing] | None:
        """Find the lane that an extra operation names: `group`, `group/out`, `group/back` or `from->to`."""
        if "->" in text:
            sender, _, receiver = text.partition("->")
            route = self._routes.get((sender.strip(), receiver.strip()))
            return None if route is None else (route.channel, route.direction, route.timing)
        name, direction = text, "out"
        if text.endswith(("/out", "/back")):
            name, _, direction = text.rpartition("/")
        channel = self._channels.get(name)
        if channel is None:
            return None
        if channel.half:
            direction = "out"
        routed = (r.timing for r in self._routes.values() if r.channel is channel and r.direction == direction)
        return channel, direction, next(routed, self._unrouted.get(name, Timing()))

    def _read(self, link: Link) -> None:
        channel = self._channel(link)
        timing = _timing(link)
        if link.bandwidth_gbps is not None:
            channel.rate_bps = round(link.bandwidth_gbps * BITS_PER_GB)
        latency = Fraction(link.one_way_latency_ms or 0) if link.rtt_ms is None else Fraction(link.rtt_ms) / 2
        directions = _directions(link)
        for pair, direction in directions.items():
            self._routes[pair] = Route(channel, "out" if channel.half else direction, latency, timing)
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

    def _inside(self, sender: Rank, receiver: Rank) -> Route:
        site = self._sites[sender.site]
        name = f"{sender.name}->{receiver.name}"
        channel = self._channels.setdefault(name, Channel(name, half=True, per_replica=True))
        timing = Timing(bandwidth_gbps=site.hop_bandwidth_gbps)
        if site.hop_bandwidth_gbps is not None:
            channel.rate_bps = round(site.hop_bandwidth_gbps * BITS_PER_GB)
        return Route(channel, "out", Fraction(site.hop_latency_ms or 0), timing)


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
