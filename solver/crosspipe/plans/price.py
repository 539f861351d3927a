"""What a step costs: the devices of all sites for as long as it takes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from crosspipe.costs.expand import expand
from crosspipe.plans.models import DATA

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec

MS_PER_HOUR = 3_600_000


def price_per_step(spec: Spec, value_ms: float | None) -> float | None:
    """Price of all devices of the sites for one step, in the spec's currency; None where one of them has no price."""
    if value_ms is None:
        return None
    expanded = expand(spec).spec
    data = int(expanded.parallel.data)
    copies = data // (len(expanded.sites) if expanded.parallel.across_sites == DATA else 1)
    per_hour = Decimal(0)
    for site in expanded.sites.values():
        for pool in site.pools or [site]:
            if pool.price_per_hour is None:
                return None
            per_hour += pool.price_per_hour * (pool.devices or 0) * copies
    return float(per_hour) * value_ms / MS_PER_HOUR


__all__ = ["price_per_step"]
