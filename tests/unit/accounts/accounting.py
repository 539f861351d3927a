"""Small specs whose account can be worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosspipe.accounts.run import explain
from crosspipe.answer.solve import solve

if TYPE_CHECKING:
    from crosspipe.accounts.models import Account, DeviceAccount

STAGE: dict[str, Any] = {"forward_ms": 1, "backward_ms": 2, "activation_mb": 100, "boundary_mb": 125}
TWO: dict[str, Any] = {
    "model": {"stages": [STAGE] * 2},
    "training": {"microbatches": 1},
    "sites": {"a": {"devices": 1, "memory_gb": 1}, "b": {"devices": 1, "memory_gb": 1}},
    "links": [{"between": ["a", "b"], "bandwidth_gbps": 1000, "one_way_latency_ms": 5}],
}
"""One microbatch there and back: F 1, transfer 1, latency 5, F 1, BW 2, transfer 1, latency 5, BW 2 = 18 ms."""

LAYER: dict[str, Any] = {"forward_ms": 1, "backward_ms": 2, "activation_mb": 100, "boundary_mb": 1}
LAYERS: dict[str, Any] = {
    "model": {"layers": [LAYER | {"repeat": 6}]},
    "training": {"microbatches": 4},
    "sites": {"a": {"devices": 2, "memory_gb": 2}, "b": {"devices": 1, "memory_gb": 2}},
    "links": [{"between": ["a", "b"], "bandwidth_gbps": 100, "one_way_latency_ms": 1}],
}


def account(spec: Any, objective: str = "makespan") -> Account:
    return explain(spec, solve(spec, time_limit_s=0, workers=1, objective=objective))


def idle(device: DeviceAccount) -> dict[tuple[str, str], float]:
    return {(part.kind, part.where): part.ms for part in device.idle}
