"""Stage assignment: six examples whose cut and device order are open, and 128 items on 16 devices of four sites.

`scale` has devices of two speeds and two memories, and six unlike links. `scale, memory unlimited` is the same without
limits: its value lies below the bound of `scale`, so memory costs time there. The 8B model's stages choose what they
recompute; beside it the same where all recompute alike, for the rules of others leave recomputation as it is.
"""

from __future__ import annotations

from typing import Any

import yaml

from bench.data import EXAMPLES
from bench.row import Row

LIMIT_S, SCALE_LIMIT_S = 60.0, 120.0

NAMES = (
    "llama-3-70b-two-sites-cut",
    "llama-3-70b-h100-a100-cut",
    "llama-3-405b-two-sites-cut",
    "llama-3-405b-four-sites-cut",
    "deepseek-v3-two-sites-cut",
    "llama-3-8b-two-homes-cut",
)
"""Examples, without `.yaml`."""

HOMES = NAMES[-1]
QUICK = "deepseek-v3-two-sites-cut"
LAYERS = 126


def rows() -> list[Row]:
    """Build the rows: the examples, the 8B model with one recomputation for all stages, then the large ones."""
    specs = [(name, example(name), LIMIT_S) for name in NAMES]
    for recompute in ("selective", "full"):
        written = example(HOMES)
        written["training"]["recompute"] = recompute
        specs.append((f"{HOMES}, {recompute}", written, LIMIT_S))
    specs.append(("scale", scale(), SCALE_LIMIT_S))
    specs.append(("scale, memory unlimited", scale(limited=False), SCALE_LIMIT_S))
    return [
        Row(suite="assignment", name=name, spec=spec, objective="makespan", limit_s=limit_s, quick=name == QUICK)
        for name, spec, limit_s in specs
    ]


def example(name: str) -> dict[str, Any]:
    """Read an example."""
    read: dict[str, Any] = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
    return read


def scale(*, limited: bool = True) -> dict[str, Any]:
    """Write the large spec, with or without limits of memory."""
    sites = {name: _site(80, limited=limited) for name in ("a", "b")}
    sites |= {name: _site(64, limited=limited) | {"time_factor": 1.6} for name in ("c", "d")}
    return {
        "name": "scale",
        "model": {
            "layers": [
                _layer("embedding", (1, 1, 1), (100, 20), 6000),
                _layer("layer", (10, 11, 9), (250, 120), 3200) | {"repeat": LAYERS},
                _layer("head", (8, 8, 8), (150, 60), 6000) | {"boundary_mb": 0},
            ]
        },
        "training": {"microbatches": 64},
        "parallel": {"pipeline": 16},
        "placement": {"layers_per_stage": "auto"},
        "sites": sites,
        "links": [
            _link("a", "b", 5, 100),
            _link("a", "c", 12, 50),
            _link("a", "d", 30, 25),
            _link("b", "c", 20, 50),
            _link("b", "d", 15, 100),
            _link("c", "d", 8, 40),
        ],
    }


def _layer(
    name: str, times_ms: tuple[int, int, int], activations_mb: tuple[int, int], static_mb: int
) -> dict[str, Any]:
    forward_ms, backward_input_ms, backward_weight_ms = times_ms
    activation_mb, retained_mb = activations_mb
    return {
        "name": name,
        "forward_ms": forward_ms,
        "backward_input_ms": backward_input_ms,
        "backward_weight_ms": backward_weight_ms,
        "activation_mb": activation_mb,
        "retained_mb": retained_mb,
        "static_mb": static_mb,
        "boundary_mb": 67,
    }


def _site(memory_gb: int, *, limited: bool) -> dict[str, Any]:
    site = {"devices": 4, "hop_latency_ms": 0.01, "hop_bandwidth_gbps": 400}
    return site | {"memory_gb": memory_gb} if limited else site


def _link(one: str, other: str, latency_ms: int, bandwidth_gbps: int) -> dict[str, Any]:
    return {"between": [one, other], "one_way_latency_ms": latency_ms, "bandwidth_gbps": bandwidth_gbps}
