"""How full the fullest device gets under 1F1B: the test by which `pipeline: auto` is chosen."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.costs.places import devices_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.spec.cluster import Site
    from crosspipe.spec.stages import Stage


def capacities_mb(sites: Mapping[str, Site], copies: int = 1) -> tuple[Fraction | None, ...]:
    """Usable memory of each device of a replica in MB, headroom taken off; None = unlimited.

    Where whole pipelines are spread over the `copies` sites, the least of each rank counts.
    """
    if copies > 1:
        by_site = [capacities_mb({name: site}) for name, site in sites.items()]
        return tuple(min((c for c in rank if c is not None), default=None) for rank in zip(*by_site, strict=True))
    found: list[Fraction | None] = []
    for name, pool in devices_of(sites):
        usable = 1 - Fraction(sites[name.rpartition("/")[0]].memory_headroom or 0)
        found.append(None if pool.memory_gb is None else Fraction(pool.memory_gb) * 1000 * usable)
    return tuple(found)


def fullest(
    stages: Sequence[Stage], places: Sequence[int], capacities: Sequence[Fraction | None], microbatches: int
) -> float:
    """Need of memory over what there is, on the device where that is largest.

    With one stage per device, 1F1B holds p - d microbatches on device d of p; with more, each stage may hold p.
    """
    pipeline = len(capacities)
    single = len(stages) == pipeline
    need = [Fraction(0)] * pipeline
    for stage, place in zip(stages, places, strict=True):
        held = min(microbatches, pipeline - place if single else pipeline)
        need[place] += Fraction(stage.static_mb) + held * Fraction(stage.activation_mb)
    ratios = [
        float(used / capacity) if capacity else float("inf")
        for used, capacity in zip(need, capacities, strict=True)
        if capacity is not None
    ]
    return max(ratios, default=0.0)
