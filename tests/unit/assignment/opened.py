"""Small open specs for the tests of this room."""

from __future__ import annotations

from typing import Any

from crosspipe.assignment.opening import Opening, opening_of
from crosspipe.costs.expand import prepare
from crosspipe.spec.load import parse_spec

LAYER = {"forward_ms": 2, "backward_input_ms": 2, "backward_weight_ms": 1, "activation_mb": 1}


def opened(layers: int = 4, sites: dict[str, Any] | None = None, **placement: object) -> Opening:
    """The opening of a chain of like layers on two sites of one device each, 5 ms apart."""
    spec = {
        "model": {"layers": [LAYER | {"repeat": layers}]},
        "training": {"microbatches": 3},
        "sites": sites or {"a": {"devices": 1}, "b": {"devices": 1}},
        "links": [{"between": ["a", "b"], "one_way_latency_ms": 5}],
        "placement": {"layers_per_stage": "auto"} | placement,
    }
    found = opening_of(prepare(parse_spec(spec)), "test")
    assert found is not None
    return found
