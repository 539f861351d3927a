"""Ties of assignments: fewer crossings, then lower peak memory, then the user's device order."""

from __future__ import annotations

import json
from typing import Any

from crosspipe import solve, verify

LAYER = {"forward_ms": 1, "backward_input_ms": 1, "backward_weight_ms": 1, "activation_mb": 1}
OPEN = {"layers_per_stage": "auto"}


def _spec(sites: dict[str, Any], layers: list[dict[str, Any]]) -> dict[str, Any]:
    names = list(sites)
    links = [{"between": [a, b]} for at, a in enumerate(names) for b in names[at + 1 :]]
    return {
        "model": {"layers": layers},
        "training": {"microbatches": 6},
        "sites": sites,
        "links": links,
        "placement": OPEN,
    }


def _devices(spec: dict[str, Any]) -> list[str]:
    answer = solve(spec, time_limit_s=20)
    assert answer.status == "optimal"
    assert verify(spec, json.loads(answer.model_dump_json())).ok
    return [row.device for row in answer.assignment]


def test_like_devices_are_taken_in_the_user_s_order() -> None:
    spec = _spec({"a": {"devices": 2}, "b": {"devices": 2}}, [LAYER | {"repeat": 8}])
    assert _devices(spec) == ["a/0", "a/1", "b/0", "b/1"]


def test_free_links_are_crossed_as_seldom_as_can_be() -> None:
    sites = {"a": {"pools": [{"devices": 1}, {"devices": 1, "time_factor": 2}]}, "b": {"devices": 1, "time_factor": 2}}
    spec = _spec(sites, [LAYER | {"repeat": 4}])
    devices = _devices(spec)
    assert [name.partition("/")[0] for name in devices] in (["a", "a", "b"], ["b", "a", "a"])
