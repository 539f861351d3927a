"""Pipelines of measured stages on one site, as specs; all amounts integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.quantities import gb, mb, ms

if TYPE_CHECKING:
    from collections.abc import Sequence

SITE = "site"
"""The one site; its devices are `site/0`, `site/1`, ..."""


@dataclass(frozen=True, slots=True)
class Work:
    """Times and memory of one stage for one microbatch; `retained_bytes` is kept from the end of B to that of W."""

    forward_ns: int
    backward_ns: int
    weight_ns: int
    activation_bytes: int
    retained_bytes: int

    def part(self, number: int) -> Work:
        """Give one of `number` equal parts, as the chunks of a wave are."""
        amounts = (self.forward_ns, self.backward_ns, self.weight_ns, self.activation_bytes, self.retained_bytes)
        if any(amount % number for amount in amounts):
            raise ValueError(f"{self} has no {number} equal parts")
        return Work(*(amount // number for amount in amounts))

    @property
    def total_ns(self) -> int:
        """Compute time of one microbatch."""
        return self.forward_ns + self.backward_ns + self.weight_ns


@dataclass(frozen=True, slots=True)
class SlowHop:
    """A directed hop between two devices unlike the others: time on its lane, then latency."""

    sender: int
    receiver: int
    transfer_ns: int
    latency_ns: int


def pipeline_spec(
    name: str,
    stages: Sequence[Work],
    *,
    devices: int,
    microbatches: int,
    memory_bytes: int,
    latency_ns: int = 0,
    slow_hops: Sequence[SlowHop] = (),
    traversal: str = "unidirectional",
) -> dict[str, Any]:
    """Write the spec of a pipeline on `devices` like devices.

    Messages take `latency_ns` and queue nowhere, except on the slow hops; there all messages of one direction share one
    lane, whatever stages they belong to.
    """
    spec: dict[str, Any] = {
        "name": name,
        "model": {"stages": [_stage(stage) for stage in stages]},
        "training": {"microbatches": microbatches},
        "sites": {SITE: {"devices": devices, "memory_gb": gb(memory_bytes), "hop_latency_ms": ms(latency_ns)}},
        "placement": {"traversal": traversal, "stages_per_device": len(stages) // devices},
    }
    if slow_hops:
        spec["links"] = [_link(hop) for hop in slow_hops]
    return spec


def _stage(work: Work) -> dict[str, Any]:
    return {
        "forward_ms": ms(work.forward_ns),
        "backward_input_ms": ms(work.backward_ns),
        "backward_weight_ms": ms(work.weight_ns),
        "activation_mb": mb(work.activation_bytes),
        "retained_mb": mb(work.retained_bytes),
    }


def _link(hop: SlowHop) -> dict[str, Any]:
    return {
        "from": f"{SITE}/{hop.sender}",
        "to": f"{SITE}/{hop.receiver}",
        "one_way_latency_ms": ms(hop.latency_ns),
        "transfer_ms": ms(hop.transfer_ns),
    }
