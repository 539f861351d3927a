"""Pipelines over one thin link that does more than carry messages: reductions, windows, deadlines.

Eight devices on two sites, F, B and W drawn around 20, 21 and 13 ms, memory for 8 to 12 microbatches, one link with a
latency of 2 F and messages of a half, one or two F. Five seeds each of: a reduction per stage in four pieces on the
link; a link that is closed a fifth of the time, again and again; one that is slower for a while; a last stage that must
end early.
"""

from __future__ import annotations

import random
from typing import Any

from bench.row import Row

LIMIT_S = 10.0
QUICK, QUICK_LIMIT_S = "closed-1", 5.0
KINDS = ("reduce", "closed", "slower", "deadline")
SEEDS = range(5)
DEVICES = 8
MB_PER_MS = 1
"""At 8 Gbit/s."""


def rows() -> list[Row]:
    """Build the rows: kind by kind, seed by seed."""
    names = [(f"{kind}-{seed}", spec(kind, seed)) for kind in KINDS for seed in SEEDS]
    return [
        Row(
            suite="links",
            name=name,
            spec=written,
            objective="makespan",
            limit_s=QUICK_LIMIT_S if name == QUICK else LIMIT_S,
            quick=name == QUICK,
        )
        for name, written in names
    ]


def spec(kind: str, seed: int) -> dict[str, Any]:
    """Write one spec of a kind."""
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    forward, backward, weight = rng.randint(18, 22), rng.randint(18, 24), rng.randint(10, 16)
    microbatches = rng.choice([16, 24, 32])
    link: dict[str, Any] = {
        "between": ["east", "west"],
        "bandwidth_gbps": 8,
        "one_way_latency_ms": 2 * forward,
        "group": "wan",
    }
    message_mb = forward * rng.choice([1, 2, 4]) * MB_PER_MS // 2
    written: dict[str, Any] = {
        "name": f"{kind}-{seed}",
        "model": {
            "stages": {
                "count": DEVICES,
                "forward_ms": forward,
                "backward_input_ms": backward,
                "backward_weight_ms": weight,
                "activation_mb": 100,
                "retained_mb": 40,
                "boundary_mb": message_mb,
            }
        },
        "training": {"microbatches": microbatches},
        "sites": {
            name: {"devices": DEVICES // 2, "memory_gb": rng.choice([8, 10, 12]) / 10} for name in ("east", "west")
        },
        "links": [link],
        "placement": {"traversal": "unidirectional"},
    }
    if kind == "reduce":
        size_mb = forward * rng.choice([1, 2]) * MB_PER_MS // 8
        written["extra_operations"] = [
            {"name": f"reduce {stage}.{piece}", "size_mb": size_mb, "lane": "wan/out", "after": [stage]}
            for stage in range(DEVICES)
            for piece in range(4)
        ]
    elif kind == "closed":
        link |= {"period_ms": 10 * forward, "closed_ms": [[8 * forward, 10 * forward]]}
    elif kind == "slower":
        link["slow_ms"] = [[10 * forward, 30 * forward, 3], [50 * forward, 60 * forward, 2]]
    elif kind == "deadline":
        filled_ms = DEVICES // 2 * 2 * forward + message_mb // MB_PER_MS
        work_ms = microbatches * (forward + backward + weight)
        written["limits"] = {"stage_deadlines_ms": {str(DEVICES - 1): filled_ms + work_ms * 11 // 10}}
    return written
