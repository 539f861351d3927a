"""Rules of placement: one way to say where stages sit, and it names devices that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.faults import Path, fault
from crosspipe.spec.places import pipeline_places, stage_count, total_devices
from crosspipe.spec.stages import LayersModel, StagesModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.model import Placement, Spec


def map_or_traversal(placement: Placement, path: Path) -> Iterator[Fault]:
    """Refuse anything beside an explicit map."""
    if placement.map is None:
        return
    if placement.traversal != "auto":
        rule = "must be left out beside `map`, which says where each stage sits"
        yield fault((*path, "traversal"), rule, placement.traversal, "auto")
    if placement.stages_per_device != 1:
        rule = "must be left out beside `map`, which says where each stage sits"
        yield fault((*path, "stages_per_device"), rule, placement.stages_per_device)


def unidirectional_has_one_stage_each(placement: Placement, path: Path) -> Iterator[Fault]:
    """Allow several stages on a device to loops and waves alone."""
    if placement.traversal == "unidirectional" and placement.stages_per_device not in (1, "auto"):
        rule = "must be 1 where the traversal is unidirectional; `loop` and `wave` come back to a device"
        yield fault((*path, "stages_per_device"), rule, placement.stages_per_device, 1)


def unused_devices_need_an_open_cut(spec: Spec) -> Iterator[Fault]:
    """Refuse devices left unused where as many stages as devices are given."""
    if spec.placement.leave_unused and (
        spec.placement.layers_per_stage != "auto" or isinstance(spec.model, StagesModel)
    ):
        rule = "must be false unless `placement.layers_per_stage` is `auto`: else the number of stages is given"
        yield fault(("placement", "leave_unused"), rule, True, False)


def unused_devices_leave_no_numbers(spec: Spec) -> Iterator[Fault]:
    """Refuse devices left unused beside what speaks of stages by number: how many there are is not known then."""
    if not spec.placement.leave_unused:
        return
    gradients = spec.gradients
    numbered = {
        "limits.in_flight (one number for all stages may stand)": isinstance(spec.limits.in_flight, list),
        "limits.stage_deadlines_ms": bool(spec.limits.stage_deadlines_ms),
        "extra_operations with `after` or `before`": any(one.after or one.before for one in spec.extra_operations),
        "gradients.tied": gradients is not None and bool(gradients.tied),
    }
    for name, given in numbered.items():
        if given:
            rule = f"must be false beside {name}, which names stages by number: how many there are is then open"
            yield fault(("placement", "leave_unused"), rule, True, False)


def cut_is_for_layers(spec: Spec) -> Iterator[Fault]:
    """Refuse a cut of stages that were measured whole."""
    if isinstance(spec.placement.layers_per_stage, list) and isinstance(spec.model, StagesModel):
        rule = "must be left out beside measured `stages`, which are not cut"
        yield fault(("placement", "layers_per_stage"), rule, spec.placement.layers_per_stage)


def map_fits_stages(spec: Spec) -> Iterator[Fault]:
    """Require one existing device for each stage."""
    names = spec.placement.map
    if names is None:
        return
    count = stage_count(spec)
    if count is not None and len(names) != count:
        rule = f"must name {count} devices, one for each stage"
        yield fault(("placement", "map"), rule, names)
    places = pipeline_places(spec)
    for stage, name in enumerate(names):
        if not places.has_device(name):
            rule = "must be a device such as `site/0`"
            yield fault(("placement", "map", stage), rule, name, places.nearest_device(name))


def stage_devices_exist(spec: Spec) -> Iterator[Fault]:
    """Require that a stage's own device exists, and that nothing else places the stage."""
    if not isinstance(spec.model, StagesModel) or not isinstance(spec.model.stages, list):
        return
    placed = [(number, stage.device) for number, stage in enumerate(spec.model.stages) if stage.device is not None]
    places = pipeline_places(spec)
    for stage, name in placed:
        if not places.has_device(name):
            rule = "must be a device such as `site/0`"
            yield fault(("model", "stages", stage, "device"), rule, name, places.nearest_device(name))
    if not placed:
        return
    if spec.placement.map is not None:
        rule = "must not stand beside the stages' own `device`"
        yield fault(("placement", "map"), rule, spec.placement.map)
    if spec.placement.traversal != "auto":
        rule = "must be left out beside the stages' own `device`"
        yield fault(("placement", "traversal"), rule, spec.placement.traversal, "auto")


def stages_per_device_is_consistent(spec: Spec) -> Iterator[Fault]:
    """Require as many measured stages as the devices hold."""
    each, devices = spec.placement.stages_per_device, spec.parallel.pipeline
    if each in (1, "auto") or spec.placement.map is not None or not isinstance(spec.model, StagesModel):
        return
    count = stage_count(spec)
    known = devices if isinstance(devices, int) else total_devices(spec)
    if count is not None and known and isinstance(each, int) and count != each * known:
        rule = f"must be {count} stages / {known} devices"
        near = count // known if count % known == 0 else None
        yield fault(("placement", "stages_per_device"), rule, each, near)


def auto_microbatch_is_estimated(spec: Spec) -> Iterator[Fault]:
    """Allow an `auto` microbatch only where costs follow from its size and the batch says how many there are."""
    if spec.training.microbatch != "auto":
        return
    if isinstance(spec.model, StagesModel | LayersModel):
        rule = "must be a number beside measured times, which are those of one microbatch"
        yield fault(("training", "microbatch"), rule, "auto", 1)
    elif spec.training.global_batch is None:
        rule = "must be a number without `global_batch`, which says how many sequences there are"
        yield fault(("training", "microbatch"), rule, "auto", 1)
