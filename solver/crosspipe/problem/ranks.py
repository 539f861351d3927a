"""The pipeline ranks of one replica, in the user's order: sites as written, their pools as written."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.problem.rounding import BYTES_PER_GB
from crosspipe.spec.places import sites_of_copies

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from crosspipe.spec.cluster import Site
    from crosspipe.spec.model import Spec


@dataclass(frozen=True, slots=True)
class Rank:
    """One device of a replica.

    Attributes
    ----------
    name, site
        `east/0` and `east`.
    time_factor
        Multiplies all compute times of its stages.
    capacity_bytes
        Usable memory (headroom taken off, rounded down), None = unlimited.
    """

    name: str
    site: str
    time_factor: Decimal
    capacity_bytes: int | None


def ranks_of(spec: Spec) -> tuple[Rank, ...]:
    """List the ranks of an expanded spec: those that one pipeline runs through.

    Where every site runs whole pipelines they are the first site's, each with the largest time factor and the least
    memory of its rank in any site: all copies then keep that schedule.
    """
    by_site = [_site_ranks(name, site) for name, site in spec.sites.items()]
    if sites_of_copies(spec.parallel, spec.sites) == 1:
        return tuple(rank for ranks in by_site for rank in ranks)
    return tuple(_worst(alike) for alike in zip(*by_site, strict=True))


def copies_of(spec: Spec) -> int:
    """Count the replicas of an expanded spec that run through the sites of the modelled one."""
    data = spec.parallel.data
    return data // sites_of_copies(spec.parallel, spec.sites) if isinstance(data, int) else 1


def _worst(alike: Sequence[Rank]) -> Rank:
    return Rank(
        alike[0].name,
        alike[0].site,
        max(rank.time_factor for rank in alike),
        min((rank.capacity_bytes for rank in alike if rank.capacity_bytes is not None), default=None),
    )


def _site_ranks(name: str, site: Site) -> list[Rank]:
    headroom = Fraction(site.memory_headroom or 0)
    ranks: list[Rank] = []
    for pool in site.pools or [site]:
        capacity = None
        if pool.memory_gb is not None:
            capacity = math.floor(Fraction(pool.memory_gb) * BYTES_PER_GB * (1 - headroom))
        ranks += [Rank(f"{name}/{len(ranks) + k}", name, pool.time_factor, capacity) for k in range(pool.devices or 0)]
    return ranks
