"""Rules of sites and their pools: one way to say what stands there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.cluster import ONE, Pool, Site
from crosspipe.spec.faults import Path, fault
from crosspipe.spec.places import total_devices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.model import Spec


def pool_is_counted_once(pool: Pool, path: Path) -> Iterator[Fault]:
    """Require a count in GPUs of a named accelerator, or in devices, or (a site) in pools."""
    if isinstance(pool, Site) and pool.pools is not None:
        yield from _nothing_beside_pools(pool, path)
        return
    if pool.gpus is None and pool.devices is None:
        other = " or `pools`" if isinstance(pool, Site) else ""
        yield fault(path, f"must have `gpus` with `gpu`, or `devices`{other}")
    if pool.gpus is not None and pool.devices is not None:
        rule = "must not stand beside `gpus`: devices are GPUs / (tensor x context x data)"
        yield fault((*path, "devices"), rule, pool.devices)
    if pool.gpus is not None and pool.gpu is None:
        yield fault((*path, "gpu"), "must be given beside `gpus`")


def _nothing_beside_pools(site: Site, path: Path) -> Iterator[Fault]:
    for name in Pool.model_fields:
        value = getattr(site, name)
        if value is not None and not (name == "time_factor" and value == ONE):
            yield fault((*path, name), "must stand inside the pools, not beside `pools`", value)


def site_names_are_plain(spec: Spec) -> Iterator[Fault]:
    """Refuse `/` and `->` in a site's name: a device is called `site/0`, a lane `a->b`."""
    for name in spec.sites:
        path = ("sites", name)
        if name != name.strip():
            yield fault(path, "a site's name must not begin or end with a space", name, name.strip() or None)
        elif "/" in name or "->" in name:
            near = name.replace("->", "-").replace("/", "-")
            yield fault(path, "a site's name must not contain `/` or `->`", name, near)


def pipeline_has_devices(spec: Spec) -> Iterator[Fault]:
    """Require a pipeline at most as long as there are devices."""
    pipeline, devices = spec.parallel.pipeline, total_devices(spec)
    if isinstance(pipeline, int) and devices is not None and pipeline > devices:
        rule = f"must be at most the {devices} devices that one replica has over all sites"
        yield fault(("parallel", "pipeline"), rule, pipeline, devices or None)
