"""The specs that `auto` stages per device and an `auto` microbatch stand for."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from crosspipe.spec.stages import StagesModel

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec

STAGES_PER_DEVICE = (1, 2)
"""Stages per device that are compared: more of them pay for more messages with ever smaller bubbles."""

MICROBATCHES = (1, 2, 4, 8, 16)
"""Sequences per microbatch that are compared, as far as they divide the batch."""


def variants_of(spec: Spec) -> tuple[Spec, ...]:
    """List the specs with these choices made, the plainest first; only the spec itself where nothing is `auto`.

    Of measured stages it is their number that says how many a device holds.
    """
    placement, training = spec.placement, spec.training
    each: tuple[object, ...] = (placement.stages_per_device,)
    if placement.stages_per_device == "auto" and not isinstance(spec.model, StagesModel):
        each = STAGES_PER_DEVICE if placement.traversal != "unidirectional" else STAGES_PER_DEVICE[:1]
    sizes: tuple[object, ...] = (training.microbatch,)
    if training.microbatch == "auto":
        batch = training.global_batch or 1
        sizes = tuple(size for size in MICROBATCHES if batch % size == 0)
    return tuple(
        spec.model_copy(
            update={
                "placement": placement.model_copy(update={"stages_per_device": count}),
                "training": training.model_copy(update={"microbatch": size}),
            }
        )
        for size, count in product(sizes, each)
    )
