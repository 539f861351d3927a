"""Stages per device and the microbatch left `auto`: every way compared, the best one answered and read back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crosspipe import check, solve, verify
from crosspipe.errors import SpecError
from crosspipe.spec.load import parse_spec

LAYER = {"forward_ms": 1, "backward_input_ms": 1, "backward_weight_ms": 1, "activation_mb": 1}
LAYERS: dict[str, Any] = {
    "model": {"layers": [LAYER | {"repeat": 8}]},
    "training": {"microbatches": 4},
    "sites": {"a": {"devices": 2}, "b": {"devices": 2}},
    "links": [{"between": ["a", "b"], "one_way_latency_ms": 0}],
}
MODEL: dict[str, Any] = {
    "model": "llama-3-8b",
    "training": {"global_batch": 32, "microbatch": "auto", "sequence_length": 4096},
    "parallel": {"tensor": 4, "pipeline": 2, "data": 2},
    "sites": {"a": {"gpus": 8, "gpu": "h100-80gb"}, "b": {"gpus": 8, "gpu": "h100-80gb"}},
    "links": [{"between": ["a", "b"], "bandwidth_gbps": 100, "one_way_latency_ms": 5}],
}


def _best_of(specs: list[dict[str, Any]]) -> float:
    values = [solve(spec, time_limit_s=20).makespan_ms for spec in specs]
    return min(value for value in values if value is not None)


def test_stages_per_device_are_compared() -> None:
    spec = LAYERS | {"placement": {"stages_per_device": "auto"}}
    answer = solve(spec, time_limit_s=20)
    each = [LAYERS | {"placement": {"stages_per_device": count, "layers_per_stage": "even"}} for count in (1, 2)]
    assert answer.status == "optimal"
    assert answer.makespan_ms == _best_of(each)
    assert {row.traversal for row in answer.placements} == {"unidirectional", "loop", "wave"}
    document = json.loads(answer.model_dump_json())
    assert check(spec, document).ok
    assert verify(spec, document).ok


def test_microbatches_are_compared_at_the_same_batch() -> None:
    answer = solve(MODEL, time_limit_s=20)
    sized = [MODEL | {"training": MODEL["training"] | {"microbatch": size}} for size in (1, 2, 4, 8, 16)]
    each = [spec | {"placement": {"layers_per_stage": "even"}} for spec in sized]
    assert answer.makespan_ms == _best_of(each)
    assert len(answer.placements) == len(each)
    document = json.loads(answer.model_dump_json())
    assert check(MODEL, document).ok
    assert verify(MODEL, document).ok


@pytest.mark.parametrize(
    "spec",
    [
        LAYERS | {"training": {"global_batch": 8, "microbatch": "auto"}},
        MODEL | {"training": {"microbatches": 8, "microbatch": "auto", "sequence_length": 4096}},
    ],
)
def test_an_auto_microbatch_needs_costs_that_follow_from_it(spec: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(spec)
    assert caught.value.faults[0].pointer == "/training/microbatch"
