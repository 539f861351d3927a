"""What passes between a solve and its solving process: one JSON object a line."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from crosspipe.schedule.orders import Orders

OUT_OF_MEMORY = 137
"""Exit code of a solving process whose memory ran out: what a shell shows for one that the system killed for it."""


def line(message: dict[str, Any]) -> bytes:
    """Write one message."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def orders_to_json(orders: Orders) -> dict[str, Any]:
    """Write orders as plain JSON data."""
    return {
        "sequences": [sequence.tolist() for sequence in orders.sequences],
        "recomputed": sorted(orders.recomputed),
    }


def orders_from_json(data: dict[str, Any]) -> Orders:
    """Read what `orders_to_json` wrote."""
    return Orders(
        tuple(np.array(sequence, dtype=np.int64) for sequence in data["sequences"]), frozenset(data["recomputed"])
    )
