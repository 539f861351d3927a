"""Rules of measured layers: groups are runs, pins name places that exist, tied weights have a size."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from crosspipe.spec.faults import Path, closest, fault
from crosspipe.spec.places import pipeline_places
from crosspipe.spec.stages import LayersModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Layer


def one_pin(layer: Layer, path: Path) -> Iterator[Fault]:
    """Allow a site or a device, not both."""
    if layer.site is not None and layer.device is not None:
        rule = "must not stand beside `device`, which names its site"
        yield fault((*path, "site"), rule, layer.site)


def frozen_has_no_options(layer: Layer, path: Path) -> Iterator[Fault]:
    """Refuse recomputation where there is no backward."""
    for name in ("selective", "full"):
        if layer.frozen and getattr(layer, name) is not None:
            yield fault((*path, name), "must be left out where `frozen` is true: there is no backward")


def groups_are_neighbours(model: LayersModel, path: Path) -> Iterator[Fault]:
    """Require that the layers of a group stand in a row."""
    last: dict[str, int] = {}
    for number, layer in enumerate(model.layers):
        name = layer.group
        if name is None:
            continue
        if last.get(name, number - 1) != number - 1:
            rule = f"must be the group of neighbours: the others of '{name}' end with layer entry {last[name]}"
            yield fault((*path, "layers", number, "group"), rule, name)
        last[name] = number


def pins_of_a_group_agree(model: LayersModel, path: Path) -> Iterator[Fault]:
    """Require one place for the layers of a group, which sit on one stage."""
    numbered = enumerate(model.layers)
    for name, run in groupby(numbered, key=lambda pair: pair[1].group):
        if name is None:
            continue
        sites: dict[str, int] = {}
        devices: dict[str, int] = {}
        for number, layer in run:
            if layer.device is not None:
                devices.setdefault(layer.device, number)
            site = layer.site if layer.device is None else layer.device.rpartition("/")[0]
            if site is not None:
                sites.setdefault(site, number)
        for field, found in (("site", sites), ("device", devices)):
            if len(found) > 1:
                (first, _), (second, number) = list(found.items())[:2]
                given = "device" if model.layers[number].device is not None else field
                rule = f"must agree with the other layers of group '{name}', which are pinned to '{first}'"
                yield fault((*path, "layers", number, given), rule, second, first if given == field else None)
                break


def pins_exist(spec: Spec) -> Iterator[Fault]:
    """Require that layers are pinned to sites and devices of the pipeline."""
    if not isinstance(spec.model, LayersModel):
        return
    places = pipeline_places(spec)
    for number, layer in enumerate(spec.model.layers):
        path = ("model", "layers", number)
        if layer.site is not None and layer.site not in places.counts:
            near = closest(layer.site, places.counts)
            yield fault((*path, "site"), "must be a site that the pipeline runs through", layer.site, near)
        if layer.device is not None and not places.has_device(layer.device):
            rule = "must be a device such as `site/0`"
            yield fault((*path, "device"), rule, layer.device, places.nearest_device(layer.device))


def tied_sizes_are_known(spec: Spec) -> Iterator[Fault]:
    """Require the size of weights that layers share where their gradients are summed."""
    given = spec.gradients
    if not isinstance(spec.model, LayersModel) or given is None or given.tied:
        return
    shared: dict[str, list[int]] = {}
    for number, layer in enumerate(spec.model.layers):
        if layer.tied is not None:
            shared.setdefault(layer.tied, []).extend([number] * min(layer.repeat, 2))
    for name, numbers in shared.items():
        layers = [spec.model.layers[number] for number in numbers]
        sizes = [size for layer in layers for size in (layer.weights_mb, layer.reduced_mb, layer.parameters_m)]
        if len(numbers) > 1 and all(size is None for size in sizes):
            rule = "must have `parameters_m`, `weights_mb` or `reduced_mb` in one of its layers: what `gradients` sums"
            yield fault(("model", "layers", numbers[0], "tied"), rule, name)


def recomputation_has_values(spec: Spec) -> Iterator[Fault]:
    """Require values under the recomputation asked for in one layer at least."""
    way = spec.training.recompute
    if not isinstance(spec.model, LayersModel) or way in ("none", "auto"):
        return
    if all(getattr(layer, way) is None for layer in spec.model.layers):
        rule = f"must be `none` or `auto` where no layer has values for it (`{way}` of the layers)"
        yield fault(("training", "recompute"), rule, way, "none")
