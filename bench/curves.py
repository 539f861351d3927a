"""Histories of a few rows for the picture of value and bound over time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.measurement import Measurement
    from bench.row import Row

SHOWN = (
    ("bench58", "ud_p8_m32_40-42-30_c0_cap1.0_3:10,80"),
    ("bench58", "wave_p8_m16_20-21-15_c0_cap1_1:10,80_3:10,80_5:10,80"),
    ("scale", "32x256 rand 1x"),
    ("readme", "two-sites-1.5b-32gb"),
)
"""Suite and key of rows with a curve; the picture shows the first three that are there."""

DIGITS = 4
"""Decimals of seconds."""


def keep_curves(path: Path, measured: Sequence[tuple[Row, Measurement]]) -> None:
    """Put the histories of those rows that were measured into the file; the others stay."""
    stored = {(curve["suite"], curve["key"]): curve for curve in _stored(path)}
    found = {
        (row.suite, row.key): _curve(row, measurement)
        for row, measurement in measured
        if (row.suite, row.key) in SHOWN and measurement.history
    }
    if found:
        curves = [(stored | found)[which] for which in SHOWN if which in stored | found]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[\n" + ",\n".join(f" {json.dumps(curve)}" for curve in curves) + "\n]\n")


def _stored(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text()) if path.exists() else []


def _curve(row: Row, measured: Measurement) -> dict[str, Any]:
    history = measured.history
    end_s = history[-1].seconds if history[-1].gap == 0 else max(measured.total_s or 0.0, history[-1].seconds)
    return {
        "suite": row.suite,
        "key": row.key,
        "status": measured.status,
        "end_s": round(end_s, DIGITS),
        "states": [[round(state.seconds, DIGITS), state.value_ns, state.bound_ns] for state in history],
    }
