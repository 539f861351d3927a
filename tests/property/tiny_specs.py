"""Random specs small enough to try every order of, from a seed: most with memory or a lane that binds."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

Spec = dict[str, Any]


def tiny_spec(seed: int, *, devices: int, most_microbatches: int, chunks: bool = False, windows: bool = True) -> Spec:
    """A spec of whole ms and MB on `devices` sites of one device each.

    Parameters
    ----------
    seed
        Which spec.
    devices
        Number of devices.
    most_microbatches
        Largest number of microbatches.
    chunks
        Whether each device holds two stages, looped or in a wave.
    windows
        Whether links may be closed at times.
    """
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    places = list(range(devices))
    if chunks:
        places += places if seed % 2 else places[::-1]
    count = rng.randint(2, most_microbatches) if most_microbatches > 1 else 1
    stages = [_stage(rng) for _ in places]
    names = [f"s{device}" for device in range(devices)]
    spec: Spec = {
        "model": {"stages": stages},
        "training": {"microbatches": count},
        "parallel": {"tensor": 1, "pipeline": devices, "data": 1},
        "sites": {name: {"devices": 1} for name in names},
        "links": [_link(rng, a, b, windows=windows) for a, b in pairwise(names)],
        "placement": {"map": [f"s{place}/0" for place in places]},
        "extra_operations": [],
    }
    for device, name in enumerate(names):
        mine = [stage for stage, place in zip(stages, places, strict=True) if place == device]
        one = sum(stage["activation_mb"] for stage in mine) + max(stage.get("backward_extra_mb", 0) for stage in mine)
        spec["sites"][name]["memory_gb"] = (one + rng.choice([-1, 0, 0, 1, 2, 4])) / 1000
    if rng.random() < 0.2:
        spec["extra_operations"] = [
            {"name": "reduce", "duration_ms": rng.randint(1, 4), "after": [0], "device": "s0/0"}
        ]
    if rng.random() < 0.15:
        spec["limits"] = {"in_flight": rng.randint(1, 2)}
    return spec


def with_unlike_microbatches(spec: Spec, seed: int) -> Spec:
    """The spec with microbatches of unlike length, in free or fixed order; memory grows by the largest."""
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    multipliers = [rng.randint(1, 3) for _ in range(spec["training"]["microbatches"])]
    spec["training"]["microbatches"] = {"multipliers": multipliers, "order": rng.choice(["free", "free", "fixed"])}
    for site in spec["sites"].values():
        site["memory_gb"] = round(site["memory_gb"] * max(multipliers), 6)
    return spec


def with_replicas(spec: Spec) -> Spec:
    """The spec with two replicas of one microbatch each, whose messages share the links."""
    parallel = spec["parallel"] | {"data": 2, "replica_messages": "separate"}
    return spec | {"parallel": parallel, "training": {"microbatches": 1}}


def without_memory_limit(spec: Spec) -> Spec:
    """The spec with memory without end, and no cap on microbatches in flight."""
    sites = {name: site | {"memory_gb": None} for name, site in spec["sites"].items()}
    return {key: value for key, value in spec.items() if key != "limits"} | {"sites": sites}


def without_lanes(spec: Spec) -> Spec:
    """The spec with messages that queue nowhere and take no time but the latency."""
    links = [{key: link[key] for key in ("between", "one_way_latency_ms")} for link in spec["links"]]
    return spec | {"links": links}


def _stage(rng: random.Random) -> Spec:
    activation = rng.randint(1, 4)
    stage: Spec = {"forward_ms": rng.randint(1, 4), "activation_mb": activation}
    kind = rng.choice(["split", "split", "split", "combined"])
    if kind == "combined":
        stage["backward_ms"] = rng.randint(1, 6)
    else:
        stage |= {"backward_input_ms": rng.randint(1, 4), "backward_weight_ms": rng.randint(1, 4)}
        stage["retained_mb"] = rng.randint(0, activation)
    if rng.random() < 0.25:
        stage["backward_extra_mb"] = rng.randint(1, 2)
    stage["boundary_mb"], stage["gradient_mb"] = rng.randint(0, 5), rng.randint(0, 5)
    return stage


def _link(rng: random.Random, a: str, b: str, *, windows: bool) -> Spec:
    link: Spec = {
        "between": [a, b],
        "one_way_latency_ms": rng.randint(0, 4),
        "bandwidth_gbps": 8,
        "duplex": rng.choice(["full", "half"]),
    }
    kind = rng.choice(["none", "none", "once", "repeating"]) if windows else "none"
    if kind == "once":
        start = rng.randint(0, 10)
        link["closed_ms"] = [[start, start + rng.randint(1, 9)]]
    elif kind == "repeating":
        # Open for at least as long as the longest message of the largest multiplier.
        link |= {"period_ms": 15 + (shut := rng.randint(1, 4)), "closed_ms": [[0, shut]]}
    return link
