"""The stored table of a suite: later tables are compared with it, and the page of the benchmarks is written from it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bench.cuts import NOTE
from bench.machine import machine
from bench.verdicts import verdicts
from bench.versus_table import duels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.measurement import Measurement
    from bench.row import Row

TIMES_S = ("first_s", "one_percent_s", "proof_s", "total_s")
AS_MEASURED = ("status", "value_ns", "bound_ns", "value_from", "bound_from", "failure", "runs")

PASSING = ("load",)
"""What is true of the machine for a moment only."""

DIGITS = 4
"""Decimals of seconds, ratios and MB."""


def stored_rows(path: Path) -> dict[str, Any]:
    """Give the stored rows by key."""
    return json.loads(path.read_text())["rows"] if path.exists() else {}


def keep(path: Path, suite: Sequence[Row], measured: Sequence[tuple[Row, Measurement]]) -> None:
    """Put the measured rows into the stored table; others of the suite stay as they are."""
    rows = stored_rows(path) | _plain(measured)
    order = [row.key for row in suite if row.key in rows]
    about = {name: words for name, words in machine().items() if name not in PASSING}
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(rows[key])}" for key in order)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{\n "machine": {json.dumps(about)},\n "of": {len(suite)},\n "rows": {{\n{lines}\n }}\n}}\n')


def _plain(measured: Sequence[tuple[Row, Measurement]]) -> dict[str, Any]:
    found = {row.key: _entry(row, measurement) for row, measurement in measured}
    for duel in duels(measured):
        race = {"to_value": duel.to_value, "to_proof": duel.to_proof}
        found[duel.row.key] |= {name: [_rounded(figure) for figure in times.plain] for name, times in race.items()}
    return found


def _entry(row: Row, measured: Measurement) -> dict[str, Any]:
    return {
        "instance": row.name,
        "contender": row.contender,
        "objective": row.objective,
        "limit_s": row.limit_s,
        **{name: getattr(measured, name) for name in AS_MEASURED},
        **{name: _rounded(getattr(measured, name)) for name in (*TIMES_S, "peak_mb")},
        **_cut(measured),
        "verdicts": [[verdict.name, verdict.holds, verdict.words] for verdict in verdicts(row, measured)],
    }


def _cut(measured: Measurement) -> dict[str, Any]:
    note = (measured.notes or {}).get(NOTE)
    return {} if note is None else {NOTE: note}


def _rounded(figure: float | bool | None) -> float | bool | None:
    return round(figure, DIGITS) if isinstance(figure, float) else figure
