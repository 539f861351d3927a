"""The table of the two-site example, from `docs/images/two-sites.json` as `docs.generate.measure` left it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docs.generate.markdown import table

MEASURED = Path(__file__).resolve().parents[1] / "images/two-sites.json"
MEMORY_GB = (32, 40, 48)


def two_sites() -> str:
    """Write one row per memory: two sites, one site, and what the wide-area link costs."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    rows = [_row(memory, measured["rows"]) for memory in MEMORY_GB]
    columns = ("memory per device", "two sites, 15 ms apart", "proved: not below", "gap", "one site", "two over one")
    how = (
        f"Time limit {measured['time_limit_s']:g} s, {measured['workers']} cores, version {measured['version']}. "
        "A gap is (value - bound) / value."
    )
    least, most = MEMORY_GB[0], MEMORY_GB[-1]
    costs = [f"{100 * _over_one(memory, measured['rows']):.1f} %" for memory in (least, most)]
    said = (
        f"With {least} GB a device the second site costs {costs[0]}, with {most} GB {costs[1]}: {most - least} more GB "
        "buy the wide-area network back."
    )
    return f"{table(columns, rows)}\n\n{how}\n\n{said}"


def _row(memory: int, rows: dict[str, Any]) -> tuple[str, ...]:
    two, one = rows[f"two-sites-1.5b-{memory}gb"], rows[f"one-site-1.5b-{memory}gb"]
    return (
        f"{memory} GB",
        f"**{_ms(two['value_ms'])} ms** in {two['seconds']:.1f} s",
        f"{_ms(two['bound_ms'])} ms",
        _proved(two),
        f"{_ms(one['value_ms'])} ms in {one['seconds']:.1f} s, {_proved(one)}",
        f"+{100 * _over_one(memory, rows):.1f} %",
    )


def _over_one(memory: int, rows: dict[str, Any]) -> float:
    """By how much two sites are slower than one."""
    two, one = rows[f"two-sites-1.5b-{memory}gb"], rows[f"one-site-1.5b-{memory}gb"]
    return float(two["value_ms"] / one["value_ms"] - 1)


def _proved(row: dict[str, Any]) -> str:
    return "optimal" if row["status"] == "optimal" else f"{100 * row['gap']:.1f} %"


def _ms(value: float) -> str:
    return f"{value:,.1f}"
