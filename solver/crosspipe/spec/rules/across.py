"""Rules of what crosses sites: copies are spread evenly, and pipelines that stay in a site find as much in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.faults import fault
from crosspipe.spec.places import sites_of_copies, sites_of_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.cluster import Site
    from crosspipe.spec.model import Spec


def copies_are_spread_evenly(spec: Spec) -> Iterator[Fault]:
    """Require a multiple of the sites as `data` where copies of a stage sit in every site."""
    sites, data = sites_of_groups(spec.parallel, spec.sites), spec.parallel.data
    rule = f"must be a multiple of the {sites} sites: `across_sites: {spec.parallel.across_sites}` puts copies in each"
    if isinstance(data, int) and data % sites:
        yield fault(("parallel", "data"), rule, data, max(1, round(data / sites)) * sites)
    if data == "auto" and sites > 1 and all(site.gpus is None and site.pools is None for site in spec.sites.values()):
        yield fault(("parallel", "data"), f"{rule}; sites in devices do not say how many", data, sites)


def sites_are_alike(spec: Spec) -> Iterator[Fault]:
    """Require as many devices in every site where each runs whole pipelines."""
    if sites_of_copies(spec.parallel, spec.sites) == 1:
        return
    (first, reference), *others = ((name, _size(site)) for name, site in spec.sites.items())
    for name, size in others:
        if size != reference:
            rule = (
                f"must have as much as {first}, {_told(reference)}: with `across_sites: data` a pipeline runs in each"
            )
            yield fault(("sites", name), rule, _told(size))


def _size(site: Site) -> tuple[int, int]:
    pools = site.pools or [site]
    return sum(pool.gpus or 0 for pool in pools), sum(pool.devices or 0 for pool in pools)


def _told(size: tuple[int, int]) -> str:
    gpus, devices = size
    return " and ".join(text for text in (f"{gpus} GPUs" * bool(gpus), f"{devices} devices" * bool(devices)) if text)
