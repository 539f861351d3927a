"""Rules of gradients: sizes are known, the sites that sum make a ring, tied stages exist."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.spec.faults import fault
from crosspipe.spec.places import sites_of_groups, stage_count
from crosspipe.spec.rules.channels import directed_pairs
from crosspipe.spec.rules.extras import may_be_frozen
from crosspipe.spec.stages import Layer, LayersModel, StagesModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.errors import Fault
    from crosspipe.spec.faults import Path
    from crosspipe.spec.gradients import Gradients
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Work

COLLECTIVES = ("reduce of stage ", "gather of stage ", "reshard of stage ", "sum of tied stages ")
"""How the names of the operations begin that gradients come to."""


def tied_size_has_stages(gradients: Gradients, path: Path) -> Iterator[Fault]:
    """Refuse a size of tied weights without the stages that hold them."""
    if gradients.tied_mb is not None and not gradients.tied:
        yield fault((*path, "tied_mb"), "must stand beside `tied`, which names the stages", gradients.tied_mb)


def tied_stages_differ(gradients: Gradients, path: Path) -> Iterator[Fault]:
    """Require two stages or more in a group of tied stages, each in one group, and there once."""
    seen: set[int] = set()
    for number, group in enumerate(gradients.tied):
        if len(group) == 1:
            yield fault((*path, "tied", number), "must name two stages at least", f"stage {group[0]}")
        for place, stage in enumerate(group):
            if stage in seen:
                yield fault((*path, "tied", number, place), "must stand in one group, and once", stage)
            seen.add(stage)


def sizes_are_known(spec: Spec) -> Iterator[Fault]:
    """Require the sizes that collectives send where the model's numbers are measured."""
    parts = _measured(spec)
    if spec.gradients is None or not parts or any(isinstance(part, Layer) and part.parameters_m for part in parts):
        return
    where = "layers" if isinstance(spec.model, LayersModel) else "stages"
    if spec.gradients.sharding != "none" and all(part.weights_mb is None for part in parts):
        rule = f"`{spec.gradients.sharding}` needs `weights_mb` of the {where}, and `reduced_mb` where the sum differs"
        yield fault(("model", where), rule)
    elif all(part.weights_mb is None and part.reduced_mb is None for part in parts):
        rule = f"`gradients` needs `weights_mb` or `reduced_mb` of the {where}: the size of what is summed"
        yield fault(("model", where), rule)


def tied_size_is_known(spec: Spec) -> Iterator[Fault]:
    """Require the size of tied weights where the model's numbers are measured."""
    if spec.gradients is not None and spec.gradients.tied and spec.gradients.tied_mb is None and _measured(spec):
        rule = "must be given beside `tied` where the model is measured: the size of the tied weights' gradients"
        yield fault(("gradients", "tied_mb"), rule)


def tied_stages_exist(spec: Spec) -> Iterator[Fault]:
    """Require tied stages of the model, with a backward."""
    count = stage_count(spec)
    for number, group in enumerate(spec.gradients.tied if spec.gradients else ()):
        for place, stage in enumerate(group):
            path = ("gradients", "tied", number, place)
            if count is not None and stage >= count:
                yield fault(path, f"must be a stage, 0 to {count - 1}", stage, count - 1)
            elif isinstance(spec.model, StagesModel) and may_be_frozen(spec, stage):
                yield fault(path, "must be a stage with a backward: a frozen stage has no gradients", stage)


def sites_make_a_ring(spec: Spec) -> Iterator[Fault]:
    """Require links along the ring of sites, in the order they are written, where gradients go round it."""
    if spec.gradients is None or sites_of_groups(spec.parallel, spec.sites) == 1:
        return
    ring = [*spec.sites, next(iter(spec.sites))]
    joined = [pair for link in spec.links for pair in directed_pairs(link)]
    for sender, receiver in pairwise(ring):
        if receiver not in _reached(sender, joined):
            rule = f"must lead from {sender} to {receiver}: gradients go round the ring {' -> '.join(ring)}"
            yield fault(("links",), rule)


def names_of_collectives_are_free(spec: Spec) -> Iterator[Fault]:
    """Refuse extra operations with the names that collectives get."""
    for number, extra in enumerate(spec.extra_operations if spec.gradients else ()):
        if extra.name.startswith(COLLECTIVES):
            rule = "must differ from the names that `gradients` gives, such as `reduce of stage 0`"
            yield fault(("extra_operations", number, "name"), rule, extra.name)


def _reached(place: str, joined: Sequence[tuple[str, str]]) -> set[str]:
    """Name the places to which links between sites lead, over others too."""
    found = {place}
    front = [place]
    while front:
        here = front.pop()
        onward = {receiver for sender, receiver in joined if sender == here} - found
        found |= onward
        front += onward
    return found


def _measured(spec: Spec) -> Sequence[Work]:
    if isinstance(spec.model, LayersModel):
        return spec.model.layers
    if not isinstance(spec.model, StagesModel):
        return ()
    return spec.model.stages if isinstance(spec.model.stages, list) else [spec.model.stages]
