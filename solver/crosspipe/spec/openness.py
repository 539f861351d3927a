"""Which choices a spec leaves to the solver beyond the schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.stages import StagesModel

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec


def leaves_choices(spec: Spec) -> bool:
    """Whether cut, device order, unused devices, recomputation, stages per device or microbatch are the solver's."""
    placement, training = spec.placement, spec.training
    words: tuple[object, ...] = (placement.stages_per_device, training.microbatch)
    if not isinstance(spec.model, StagesModel):
        words += (placement.layers_per_stage, training.recompute)
    return "auto" in words or placement.device_order == "free" or placement.leave_unused
