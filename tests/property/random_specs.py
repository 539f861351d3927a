"""Random small specs of every feature, in whole ms and MB, from a seed; and the same specs changed in one respect."""

from __future__ import annotations

import copy
import random
from typing import Any

Spec = dict[str, Any]

TIMES = ("forward_ms", "backward_input_ms", "backward_weight_ms", "backward_ms", "recompute_ms")
SIZES = ("boundary_mb", "gradient_mb")
TRAVERSALS = ("unidirectional", "loop", "wave", "auto", "map")


def random_spec(seed: int, devices: int | None = None, replicas: int | None = None) -> Spec:
    """A spec of up to about 150 operations; two thirds of them tight in memory, two thirds with a thin link.

    With `devices`, a unidirectional one of so many; `replicas` is drawn as well if it is not given.
    """
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    traversal = TRAVERSALS[seed % len(TRAVERSALS)] if devices is None else "unidirectional"
    if devices is None:
        devices = rng.randint(2, 4) if traversal in ("unidirectional", "map") else 2
    count = (
        devices if traversal == "unidirectional" else rng.choice([devices, devices + 1]) if traversal == "map" else 4
    )
    thin, like = seed % 3 != 2, rng.random() < 0.5
    first = _stage(rng, thin)
    stages = [dict(first) if like else _stage(rng, thin) for _ in range(count)]
    for stage in stages[: rng.choice([0, 0, 0, 0, 1]) if count > 1 else 0]:
        for key in ("backward_input_ms", "backward_weight_ms", "backward_ms", "recompute_ms", "recompute_option"):
            stage.pop(key, None)
        stage.pop("retained_mb", None)
        stage.pop("backward_extra_mb", None)
        stage["frozen"] = True
    microbatches: Any = rng.choice([1, 2, 3, 4, 5, 6, 6])
    if rng.random() < 0.25:
        multipliers = [rng.choice([1, 1, 2, 3]) for _ in range(rng.randint(2, 4))]
        microbatches = {"multipliers": multipliers, "order": rng.choice(["free", "fixed"])}
    replicas = rng.choice([1, 1, 1, 2]) if replicas is None else replicas
    names = [f"s{number}" for number in range(devices)]
    spec: Spec = {
        "model": {"stages": stages},
        "training": {"microbatches": microbatches, "sequence_length": 128},
        "parallel": {
            "tensor": 1,
            "pipeline": devices,
            "data": replicas,
            "replica_messages": rng.choice(["merged", "separate"]),
        },
        "sites": {name: {"devices": 1} | _factor(rng) for name in names},
        "links": [_link(rng, a, b, thin) for i, a in enumerate(names) for b in names[i + 1 :]],
        "extra_operations": _extras(rng, names, stages),
    }
    places = [*range(devices), *([rng.randrange(devices)] * (count - devices))]
    if traversal == "map":
        spec["placement"] = {"map": [f"s{place}/0" for place in places]}
    elif traversal != "auto":
        spec["placement"] = {"traversal": traversal}
    if rng.random() < 0.15:
        spec["limits"] = {"in_flight": rng.randint(1, 3)}
    if seed % 6 != 5:
        maps = [places] if traversal in ("unidirectional", "map") else [[0, 1, 0, 1], [0, 1, 1, 0]]
        for number, name in enumerate(names):
            # One microbatch of the largest multiplier on every stage of the device always fits.
            least = max(_one_microbatch(stages, microbatches, held, number) for held in maps)
            spec["sites"][name]["memory_gb"] = (least + rng.choice([0, 0, 1, 2, 4])) / 1000
    return spec


def _stage(rng: random.Random, thin: bool) -> dict[str, Any]:
    activation = rng.randint(1, 5)
    stage: dict[str, Any] = {"forward_ms": rng.randint(1, 5), "activation_mb": activation}
    kind = rng.choice(["split", "split", "split", "combined", "input only"])
    if kind == "combined":
        stage["backward_ms"] = rng.randint(1, 8)
    else:
        stage["backward_input_ms"] = rng.randint(0, 5)
        if kind == "split":
            stage["backward_weight_ms"] = rng.randint(0, 5)
            stage["retained_mb"] = rng.randint(0, activation)
    stage["static_mb"] = rng.choice([0, 0, 2])
    stage["backward_extra_mb"] = rng.choice([0, 0, 0, 1, 2])
    stage["boundary_mb"] = rng.randint(1, 6) if thin else rng.randint(0, 1)
    stage["gradient_mb"] = rng.randint(1, 6) if thin else rng.randint(0, 1)
    chance = rng.random()
    if chance < 0.12:
        stage["recompute_option"] = {"activation_mb": rng.randint(0, activation), "recompute_ms": rng.randint(0, 3)}
    elif chance < 0.24:
        stage["recompute_ms"] = rng.randint(1, 3)
    return stage


def _factor(rng: random.Random) -> dict[str, Any]:
    return {"time_factor": rng.choice([1, 2, 0.5])} if rng.random() < 0.2 else {}


def _link(rng: random.Random, a: str, b: str, thin: bool) -> dict[str, Any]:
    link: dict[str, Any] = {"between": [a, b], "one_way_latency_ms": rng.randint(0, 6)}
    if not thin and rng.random() < 0.5:
        return link
    link |= {
        "bandwidth_gbps": 8,
        "duplex": rng.choice(["full", "full", "half"]),
        "per_replica": rng.choice([True, False]),
    }
    windows = rng.choice(["none", "none", "none", "once", "repeating", "slow", "open", "clock"])
    if windows == "once":
        start = rng.randint(0, 12)
        link["closed_ms"] = [[start, start + rng.randint(1, 12)]]
    elif windows == "open":
        link["open_ms"] = [[0, rng.randint(20, 30)], [rng.randint(40, 50), None]]
    elif windows in ("repeating", "clock"):
        # Open for longer than the longest message (6 MB, multiplier 3, two merged replicas).
        start = rng.randint(36, 40)
        link |= {"period_ms": start + rng.randint(2, 9), "closed_ms": [[start, start + rng.randint(1, 2)]]}
        if windows == "clock":
            link["anchor"] = "clock"
    elif windows == "slow":
        start = rng.randint(0, 12)
        link["slow_ms"] = [[start, start + rng.randint(4, 20), rng.choice([2, 4])]]
    return link


def _extras(rng: random.Random, names: list[str], stages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    trained = [number for number, stage in enumerate(stages) if not stage.get("frozen")]
    for number in range(rng.choice([0, 0, 0, 1, 2])):
        side = rng.choice(["after", "before"])
        stage = rng.choice(trained if side == "after" else range(len(stages)))
        extra: dict[str, Any] = {"name": f"extra {number}", "duration_ms": rng.randint(1, 5), side: [stage]}
        if rng.random() < 0.5:
            extra["device"] = f"{rng.choice(names)}/0"
        found.append(extra)
    return found


def _one_microbatch(stages: list[dict[str, Any]], microbatches: Any, places: list[int], device: int) -> int:
    largest = max(microbatches["multipliers"]) if isinstance(microbatches, dict) else 1
    mine = [stage for stage, place in zip(stages, places, strict=True) if place == device]
    held = [stage["activation_mb"] + stage.get("backward_extra_mb", 0) for stage in mine]
    return largest * sum(held) + sum(stage["static_mb"] for stage in mine)


def scaled(spec: Spec, factor: int) -> Spec:
    """All times `factor` times as long: work, latencies, windows, limits; messages by their size."""
    spec = copy.deepcopy(spec)
    for stage in spec["model"]["stages"]:
        for key in (*TIMES, *SIZES):
            if key in stage:
                stage[key] *= factor
        if "recompute_option" in stage:
            stage["recompute_option"]["recompute_ms"] *= factor
    for link in spec["links"]:
        for key in ("one_way_latency_ms", "period_ms"):
            if key in link:
                link[key] *= factor
        for key in ("closed_ms", "open_ms"):
            if key in link:
                link[key] = [[None if end is None else end * factor for end in window] for window in link[key]]
        if "slow_ms" in link:
            link["slow_ms"] = [[start * factor, end * factor, rate] for start, end, rate in link["slow_ms"]]
    for extra in spec["extra_operations"]:
        extra["duration_ms"] *= factor
    return spec


def without_memory_limit(spec: Spec) -> Spec:
    """Memory without end, and no cap on microbatches in flight."""
    spec = copy.deepcopy(spec)
    for site in spec["sites"].values():
        site.pop("memory_gb", None)
    spec.pop("limits", None)
    return spec


def without_latency(spec: Spec) -> Spec:
    spec = copy.deepcopy(spec)
    for link in spec["links"]:
        link["one_way_latency_ms"] = 0
    return spec


def without_bandwidth(spec: Spec) -> Spec:
    """Links that carry any number of messages at once."""
    spec = copy.deepcopy(spec)
    for link in spec["links"]:
        for key in ("bandwidth_gbps", "closed_ms", "open_ms", "slow_ms", "period_ms", "anchor", "duplex"):
            link.pop(key, None)
    return spec


def renamed(spec: Spec) -> Spec:
    """Other names for the sites, which sort the other way round; written in another order."""
    spec = copy.deepcopy(spec)
    names = {name: f"Zone {chr(ord('z') - number)}" for number, name in enumerate(spec["sites"])}

    def device(name: str) -> str:
        site, number = name.split("/")
        return f"{names[site]}/{number}"

    spec["sites"] = {names[name]: site for name, site in spec["sites"].items()}
    for link in spec["links"]:
        link["between"] = [names[name] for name in link["between"]]
    for extra in spec["extra_operations"]:
        if "device" in extra:
            extra["device"] = device(extra["device"])
    if "map" in spec.get("placement", {}):
        spec["placement"]["map"] = [device(name) for name in spec["placement"]["map"]]
    return spec
