"""The devices of a replica, and which of them a stage is cut for: the map, or the traversal's pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.errors import Fault, SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.spec.cluster import Pool, Site
    from crosspipe.spec.model import Placement


def devices_of(sites: Mapping[str, Site], copies: int = 1) -> tuple[tuple[str, Pool], ...]:
    """List the devices of a replica with their pools, in the user's order; expanded sites only.

    Where whole pipelines are spread over the `copies` sites, they are those of the first, each as slow as the slowest
    of its rank in any site.
    """
    by_site = [[pool for pool in site.pools or [site] for _ in range(pool.devices or 0)] for site in sites.values()]
    if copies == 1:
        return tuple(
            (f"{name}/{number}", pool)
            for name, pools in zip(sites, by_site, strict=True)
            for number, pool in enumerate(pools)
        )
    slowest = [max(pools, key=lambda pool: pool.time_factor) for pools in zip(*by_site, strict=True)]
    return tuple((f"{next(iter(sites))}/{number}", pool) for number, pool in enumerate(slowest))


def stage_count(placement: Placement, pipeline: int) -> int:
    """Count the stages that a model is cut into."""
    each = 1 if placement.stages_per_device == "auto" else placement.stages_per_device
    return pipeline * each if placement.map is None else len(placement.map)


def stage_places(placement: Placement, stages: int, devices: Sequence[str]) -> tuple[int, ...]:
    """Give the device number of each stage; the pattern of `auto` is the loop.

    Raises
    ------
    SpecError
        If the map names a device that is not there.
    """
    if placement.map is None:
        turns = (divmod(stage, len(devices)) for stage in range(stages))
        wave = placement.traversal == "wave"
        return tuple(len(devices) - 1 - place if wave and turn % 2 else place for turn, place in turns)
    numbers = {name: number for number, name in enumerate(devices)}
    rule = f"a map names devices {devices[0]} to {devices[-1]}, of one replica"
    faults = [
        Fault(f"/placement/map/{stage}", rule, name, devices[min(stage, len(devices) - 1)])
        for stage, name in enumerate(placement.map)
        if name not in numbers
    ]
    if faults:
        raise SpecError(faults)
    return tuple(numbers[name] for name in placement.map)
