"""Collectives over the copies of a stage: first inside each site, then round the ring of sites; gathers the other way.

Inside a site the copies make a ring of their own (`rings`), on a lane for each device: the collectives of its stages
take turns there. Between sites each place of the ring stands for all copies of its site, which together hold what the
site has summed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.problem.channels import Channel, Timing
from crosspipe.problem.ends import Ends
from crosspipe.problem.ranks import Rank
from crosspipe.problem.rings import Ring, Round
from crosspipe.problem.rounding import BITS_PER_GB, to_ns
from crosspipe.spec.places import sites_of_groups

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from crosspipe.problem.extras import Extras
    from crosspipe.problem.network import Network
    from crosspipe.spec.gradients import Gradients
    from crosspipe.spec.model import Spec


class Collectives:
    """Adds collectives over the copies of a stage on a device.

    Raises
    ------
    LookupError
        If the sites make no ring; its arguments are the names of two that nothing joins.
    """

    def __init__(
        self, spec: Spec, gradients: Gradients, ranks: Sequence[Rank], network: Network, extras: Extras
    ) -> None:
        self._spec, self._gradients, self._ranks, self._extras = spec, gradients, ranks, extras
        data = spec.parallel.data if isinstance(spec.parallel.data, int) else 1
        sites = sites_of_groups(spec.parallel, spec.sites)
        self.copies, self._inside = data, data // sites
        self._lanes: dict[int, tuple[Channel, Timing, Fraction]] = {}
        self._sites: Ring | None = None
        if sites > 1:
            places = [Rank(name, name, site.time_factor, None) for name, site in spec.sites.items()]
            self._sites = Ring(places, network, self._share)

    @property
    def in_several_sites(self) -> bool:
        """Whether copies of a stage sit in more than one site."""
        return self._sites is not None

    @property
    def between_sites(self) -> tuple[int, ...]:
        """Operations on links between sites."""
        return () if self._sites is None else tuple(self._sites.numbers)

    def all_reduce(self, name: str, device: int, size_mb: Decimal, start: Ends) -> Ends:
        """Sum over all copies and give each the whole."""
        if self._sites is None:
            return self._in_site(name, device, size_mb, 2, start)
        summed = self._in_site(f"{name}, inside", device, size_mb, 1, start)
        shared = self._round_sites(name, size_mb, 2, summed)
        return self._in_site(f"{name}, back inside", device, size_mb, 1, shared)

    def reduce_scatter(self, name: str, device: int, size_mb: Decimal, start: Ends) -> Ends:
        """Sum over all copies and give each a part."""
        if self._sites is None:
            return self._in_site(name, device, size_mb, 1, start)
        summed = self._in_site(f"{name}, inside", device, size_mb, 1, start)
        return self._round_sites(name, size_mb, 1, summed)

    def gather(self, name: str, device: int, size_mb: Decimal, start: Ends) -> Ends:
        """Give every copy the parts of all."""
        if self._sites is None:
            return self._in_site(name, device, size_mb, 1, start)
        here = self._round_sites(name, size_mb, 1, start)
        return self._in_site(f"{name}, inside", device, size_mb, 1, here)

    def _round_sites(self, name: str, size_mb: Decimal, phases: int, start: Ends) -> Ends:
        if self._sites is None:
            return start
        return self._sites.add(Round(name, phases, Fraction(size_mb), self._gradients.pieces), start, self._extras)

    def _in_site(self, name: str, device: int, size_mb: Decimal, phases: int, start: Ends) -> Ends:
        if self._inside == 1:
            return start
        channel, timing, latency_ms = self._lane(device)
        rounds = phases * (self._inside - 1)
        sent_ns = to_ns(rounds * timing.bulk_ms(Fraction(size_mb) / self._inside))
        return Ends.of(self._extras.on_lane(name, channel, "out", sent_ns, start), to_ns(rounds * latency_ms))

    def _lane(self, device: int) -> tuple[Channel, Timing, Fraction]:
        if device not in self._lanes:
            site = self._spec.sites[self._ranks[device].site]
            gbps, latency = self._gradients.bandwidth_gbps, self._gradients.latency_ms
            gbps = site.hop_bandwidth_gbps if gbps is None else gbps
            latency = site.hop_latency_ms if latency is None else latency
            channel = Channel(f"gradients of {self._ranks[device].name}", half=True, per_replica=False)
            if gbps is not None:
                channel.rate_bps = round(gbps * BITS_PER_GB)
            self._lanes[device] = channel, Timing(bandwidth_gbps=gbps), Fraction(latency or 0)
        return self._lanes[device]

    def _share(self, channel: Channel) -> Fraction:
        """Share of a site's part that a link carries: where each replica has a link of its own, that of one replica."""
        return Fraction(1, self._inside) if channel.per_replica else Fraction(1)
