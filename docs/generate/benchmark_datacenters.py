"""The tables of the CrossPipe paper beside ours: milliseconds per microbatch, proofs, and what is gained."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from bench.data import read_json
from bench.row import OURS
from bench.suites.datacenters import SOLVERS, Setting
from docs.generate import benchmark_ratios
from docs.generate.benchmark_cells import NS_PER_MS, gap_of, percent, seconds
from docs.generate.markdown import paragraph, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]
    Rows = Mapping[str, Row]

UNIDIRECTIONAL, WAVE = "unidirectional", "wave"

KNOWN = (("1F1B", UNIDIRECTIONAL), ("ZB-H1", UNIDIRECTIONAL), ("ZB-V static", WAVE))
"""Static schedules, in the paper's order; the orders of each are made without delays."""

MADE = (("ZB-V", WAVE), ("greedy", UNIDIRECTIONAL))
"""What we make without search, delays in view."""

COLUMNS = (
    "(latency, transfer) / F",
    "1F1B",
    "ZB-H1",
    "ZB-V",
    "ZB-V, delays in view",
    "greedy",
    "unidirectional",
    "gap",
    "proof s",
    "wave",
    "gap",
    "proof s",
    "less than best static",
    "at most",
)

PAPERS = ("1F1B", "ZB-H1", "ZB-V static", "greedy", UNIDIRECTIONAL, WAVE)
"""Columns of the paper by our contender or, of our own, traversal."""


def parts(rows: Rows) -> list[str]:
    """Write the tables: by number of sites and case, then the other solvers."""
    found = []
    for place, case in product(read_json("bench/datacenters.json")["tables"], (1, 3)):
        lines = [_line(rows, place, number, case) for number in range(len(place["delays"]))]
        kept = [line for line in lines if line is not None]
        if kept:
            size = "as much memory as 1F1B takes, 16 microbatches" if case == 1 else "twice that, 32 microbatches"
            found += [f"{place['sites']} sites, case {case}: {size}.", table(COLUMNS, kept)]
    duels = {key: row for key, row in rows.items() if row["contender"] in (*SOLVERS, OURS) and UNIDIRECTIONAL in key}
    return [*found, paragraph(SOLVERS_SAY), *benchmark_ratios.parts(duels)]


SOLVERS_SAY = (
    "Beside other solvers, unidirectional, case 1, one thread each; ours had all cores, so the ratios of times tell "
    "less than the proofs do:"
)


def _line(rows: Rows, place: Mapping[str, Any], number: int, case: int) -> Sequence[str] | None:
    """Write a line of a table; None where ours is not measured."""
    latency, transfer = place["delays"][number]
    setting = Setting(place["sites"], latency, transfer, case)
    ours = [rows.get(f"{setting.name} {traversal}") for traversal in (UNIDIRECTIONAL, WAVE)]
    if any(row is None for row in ours):
        return None
    paper: dict[str, float | None] = dict(zip(PAPERS, place[f"case_{case}"][number], strict=True))

    def known(contender: str, traversal: str) -> Row | None:
        return rows.get(f"{setting.name} {traversal} @ {contender}")

    static = [row["value_ns"] for row in (known(*one) for one in KNOWN) if row is not None and row["value_ns"]]
    best, lowest = (
        min(row[field] for row in ours if row is not None and row[field] is not None)
        for field in ("value_ns", "bound_ns")
    )
    cells = [f"({latency:g}, {transfer:g})"]
    cells += [_value(setting, known(*one), paper.get(one[0])) for one in (*KNOWN, *MADE)]
    for traversal, row in zip((UNIDIRECTIONAL, WAVE), ours, strict=True):
        gap = None if row is None else gap_of(row)
        cells += [_value(setting, row, paper[traversal]), "" if gap is None else percent(gap)]
        cells += [seconds(None if row is None else row["proof_s"])]
    cells += _less(static, best, lowest, place["reduction"][number] if case == 1 else None)
    return cells


def _value(setting: Setting, row: Row | None, paper_s: float | None) -> str:
    """Write ms per microbatch, the paper's in brackets."""
    value = None if row is None else row["value_ns"]
    own = "" if value is None else f"{value / NS_PER_MS / setting.microbatches:.1f}"
    return own if paper_s is None else f"{own} ({1000 * paper_s:.0f})"


def _less(static: Sequence[int], best: int, lowest: int, paper: float | None) -> Sequence[str]:
    """Write what our best takes less than the best static schedule, the paper's in brackets, and what is possible."""
    if not static:
        return ("", "")
    told = f"{100 * (1 - best / min(static)):.1f} %"
    least = f"{100 * (1 - lowest / min(static)):.1f} %"
    return (told if paper is None else f"{told} ({100 * paper:.1f} %)", least)
