"""Specs that the tests of this room start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crosspipe.costs import expand
from crosspipe.errors import Fault, SpecError
from crosspipe.spec.model import Spec

if TYPE_CHECKING:
    from crosspipe.costs import Expansion
    from crosspipe.spec.stages import Stage

TWO_SITES = {"east": {"gpus": 512, "gpu": "h100-80gb"}, "west": {"gpus": 512, "gpu": "h100-80gb"}}
WAN = {"between": ["east", "west"], "bandwidth_gbps": 400, "one_way_latency_ms": 15}
STEP = {"global_batch": 512, "microbatch": 1, "sequence_length": 4096}
STAGES = {
    "count": 8,
    "forward_ms": 18.522,
    "backward_input_ms": 18.086,
    "backward_weight_ms": 9.337,
    "activation_mb": 3709,
    "retained_mb": 1359,
    "static_mb": 2250,
    "boundary_mb": 28.3,
}


def named(**changes: Any) -> Spec:
    """Llama 3 70B on two sites of 512 GPUs, or what the changes make of it."""
    spec = {"model": "llama-3-70b", "training": STEP, "sites": TWO_SITES, "links": [WAN]}
    return Spec.model_validate(spec | changes)


def measured(**changes: Any) -> Spec:
    """Eight measured stages on eight devices of one site, or what the changes make of them."""
    spec = {"model": {"stages": STAGES}, "training": {"microbatches": 24}, "sites": {"east": {"devices": 8}}}
    return Spec.model_validate(spec | changes)


def layered(layers: list[dict[str, Any]], devices: int = 2, **changes: Any) -> Spec:
    """Measured layers on some devices of one site."""
    spec = {"model": {"layers": layers}, "training": {"microbatches": 8}, "sites": {"east": {"devices": devices}}}
    return Spec.model_validate(spec | changes)


def stages_of(expansion: Expansion) -> list[Stage]:
    """List the stages of an expansion."""
    model = expansion.spec.model
    assert not isinstance(model, str)
    stages = getattr(model, "stages")  # noqa: B009  # the union's other members have none
    assert isinstance(stages, list)
    return stages


def refusal(spec: Spec) -> tuple[Fault, ...]:
    """Expand a spec that must be refused; return its faults."""
    with pytest.raises(SpecError) as caught:
        expand(spec)
    return caught.value.faults


def only_fault(spec: Spec) -> Fault:
    """Expand a spec that must be refused for one fault; return it."""
    (fault,) = refusal(spec)
    return fault
