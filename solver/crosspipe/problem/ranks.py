"""The pipeline ranks of one replica, in the user's order: sites as written, their pools as written."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.problem.rounding import BYTES_PER_GB

if TYPE_CHECKING:
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
    """List the ranks of an expanded spec."""
    return tuple(rank for name, site in spec.sites.items() for rank in _site_ranks(name, site))


def _site_ranks(name: str, site: Site) -> list[Rank]:
    headroom = Fraction(site.memory_headroom or 0)
    ranks: list[Rank] = []
    for pool in site.pools or [site]:
        capacity = None
        if pool.memory_gb is not None:
            capacity = math.floor(Fraction(pool.memory_gb) * BYTES_PER_GB * (1 - headroom))
        ranks += [Rank(f"{name}/{len(ranks) + k}", name, pool.time_factor, capacity) for k in range(pool.devices or 0)]
    return ranks
