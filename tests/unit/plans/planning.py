"""Small specs to plan for, and plans of them without a search."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from crosspipe.plans.candidates import Candidate
from crosspipe.plans.rewrite import Base, Variant, base_of, variants
from crosspipe.plans.run import plan
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from crosspipe.plans.models import Arrangement, Plan

STAGE: dict[str, Any] = {
    "forward_ms": 3.1,
    "backward_input_ms": 2.9,
    "backward_weight_ms": 2.3,
    "activation_mb": 100,
    "retained_mb": 40,
    "boundary_mb": 20,
    "weights_mb": 50,
}
SPEC: dict[str, Any] = {
    "name": "two small sites",
    "model": {"stages": [STAGE] * 4},
    "training": {"microbatches": 6, "microbatch": 1, "sequence_length": 512},
    "sites": {
        "east": {"devices": 2, "memory_gb": 0.6, "hop_bandwidth_gbps": 400, "price_per_hour": 3},
        "west": {"devices": 2, "memory_gb": 0.6, "hop_bandwidth_gbps": 400, "price_per_hour": 3},
    },
    "links": [{"between": ["east", "west"], "bandwidth_gbps": 100, "one_way_latency_ms": 4}],
}
GPUS: dict[str, Any] = {
    "model": "llama-3-8b",
    "training": {"global_batch": 8, "microbatch": 1, "sequence_length": 4096},
    "parallel": {"tensor": 4, "pipeline": 4},
    "sites": {"east": {"gpus": 16, "gpu": "h100-80gb"}, "west": {"gpus": 16, "gpu": "h100-80gb"}},
    "links": [{"between": ["east", "west"], "bandwidth_gbps": 100, "one_way_latency_ms": 10}],
}


def base(spec: Any = SPEC) -> Base:
    return base_of(parse_spec(spec))


def made(spec: Any, kind: Any, *sites: str) -> list[Variant]:
    found, error = variants(base(spec), Candidate(kind, sites))
    assert error is None
    return found


def refusal(spec: Any, kind: Any, *sites: str) -> str:
    found, error = variants(base(spec), Candidate(kind, sites))
    assert found == []
    assert error is not None
    return str(error)


@cache
def small_plan() -> Plan:
    return plan(SPEC, time_limit_s=0, workers=1)


def row(found: Plan, name: str) -> Arrangement:
    return next(one for one in found.arrangements if one.name == name)
