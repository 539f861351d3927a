"""The places of a spec: its sites and their devices, `site/0`, `site/1`, ..., in the order they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from crosspipe.spec.faults import closest
from crosspipe.spec.stages import StagesModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sized

    from crosspipe.spec.cluster import Pool, Site
    from crosspipe.spec.model import Parallel, Spec


DEVICE_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}")


def sites_of_copies(parallel: Parallel, sites: Sized) -> int:
    """Count the sites over which whole pipelines are spread: all of them, or one where a pipeline runs through all."""
    return len(sites) if parallel.across_sites == "data" else 1


def sites_of_groups(parallel: Parallel, sites: Sized) -> int:
    """Count the sites over which the copies of one stage are spread, and its gradients summed."""
    return 1 if parallel.across_sites == "pipeline" else len(sites)


def pipeline_sites(spec: Spec) -> dict[str, Site]:
    """Name the sites that the modelled pipeline runs through: all, or the first where each has whole pipelines."""
    return dict(islice(spec.sites.items(), len(spec.sites) // sites_of_copies(spec.parallel, spec.sites)))


def device_count(site: Site, parallel: Parallel, copies: int) -> int | None:
    """Count the devices of a site in one replica, of which `copies` sites share out the replicas.

    None while GPUs wait for degrees that are `auto`.
    """
    counts = [_pool_count(pool, parallel, copies) for pool in site.pools or [site]]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def device_counts(spec: Spec) -> dict[str, int | None]:
    """Count the devices of each site in one replica; None where that is not known yet."""
    copies = sites_of_copies(spec.parallel, spec.sites)
    return {name: device_count(site, spec.parallel, copies) for name, site in spec.sites.items()}


def total_devices(spec: Spec) -> int | None:
    """Count the devices of one replica; None where that is not known yet."""
    every = device_counts(spec)
    counts = [every[name] for name in pipeline_sites(spec)]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def stage_count(spec: Spec) -> int | None:
    """Count the stages; None where the model is yet to be cut into them."""
    if isinstance(spec.model, StagesModel):
        stages = spec.model.stages
        return len(stages) if isinstance(stages, list) else stages.count
    if spec.placement.map is not None:
        return len(spec.placement.map)
    pipeline, each = spec.parallel.pipeline, spec.placement.stages_per_device
    return pipeline * each if isinstance(pipeline, int) and isinstance(each, int) else None


@dataclass(frozen=True, slots=True)
class Places:
    """The sites and devices that names may mean.

    Attributes
    ----------
    counts
        Devices of each site in one replica; None where that is not known yet.
    """

    counts: Mapping[str, int | None]

    def has_device(self, name: str) -> bool:
        """Whether a name may be that of a device: its site exists, and so does its number as far as that is known."""
        site, _, number = name.rpartition("/")
        if site not in self.counts or DEVICE_NUMBER.fullmatch(number) is None:
            return False
        count = self.counts[site]
        return count is None or int(number) < count

    def nearest_device(self, name: str) -> str | None:
        """Find the device that was probably meant; None if none is near."""
        site, _, number = name.rpartition("/")
        near = site if site in self.counts else closest(site or name, self.counts)
        if near is None:
            return None
        count = self.counts[near]
        given = int(number) if DEVICE_NUMBER.fullmatch(number) else 0
        return f"{near}/{given if count is None else min(given, max(count - 1, 0))}"


def places_of(spec: Spec) -> Places:
    """Gather the places of a spec."""
    return Places(device_counts(spec))


def pipeline_places(spec: Spec) -> Places:
    """Gather the places that a stage of the modelled pipeline may sit in."""
    every = device_counts(spec)
    return Places({name: every[name] for name in pipeline_sites(spec)})


def _pool_count(pool: Pool, parallel: Parallel, copies: int) -> int | None:
    if pool.devices is not None:
        return pool.devices
    if pool.gpus is None or not isinstance(parallel.tensor, int) or not isinstance(parallel.data, int):
        return None
    return pool.gpus // (parallel.tensor * parallel.context * max(1, parallel.data // copies))
