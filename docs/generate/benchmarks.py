"""The tables of the benchmarks, from the stored measurements that `python -m bench --keep` has left."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from docs.generate import (
    benchmark_assignment,
    benchmark_datacenters,
    benchmark_groups,
    benchmark_llama405b,
    benchmark_ratios,
)
from docs.generate.benchmark_cells import NOT_MEASURED, gap_of, milliseconds, percent, seconds
from docs.generate.markdown import paragraph, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

STORED = Path(__file__).resolve().parents[2] / "bench/baseline"
SUITES = (
    "golden",
    "readme",
    "bench58",
    "zero_bubble",
    "peers",
    "scale",
    "versus",
    "datacenters",
    "llama405b",
    "links",
    "assignment",
)
QUICKLY_S = 2.0
"""Proofs within this time are counted apart."""

UNTOLD = ("sound", True)
"""A verdict that the totals count and no row tells: its value and bound have said it."""

COLUMNS = ("instance", "value ms", "bound ms", "gap", "first s", "to 1 % s", "proof s", "peak MB", "held against")

Stored = dict[str, Any]
"""Row by key."""


def suite_part(name: str, folder: Path = STORED) -> str:
    """Write the totals and the table of a suite."""
    stored = _read(name, folder)
    if stored is None:
        return NOT_MEASURED
    rows: Stored = stored["rows"]
    if name == "versus":
        return "\n\n".join([_measured(rows), *benchmark_ratios.parts(rows)])
    if name == "datacenters":
        return "\n\n".join([_measured(rows), *benchmark_datacenters.parts(rows)])
    if name == "llama405b":
        return "\n\n".join([_measured(rows), *benchmark_llama405b.parts(rows)])
    parts = [_totals(rows, stored["of"]), _measured(rows)]
    if name == "assignment":
        return "\n\n".join([*parts, *benchmark_assignment.parts(rows)])
    group = benchmark_groups.GROUPS.get(name)
    if group is None:
        return "\n\n".join([*parts, _table(rows)])
    missed = {key: row for key, row in rows.items() if not all(holds for _, holds, _ in row["verdicts"])}
    last = ["Rows that miss something:", _table(missed)] if missed else ["No row misses anything."]
    return "\n\n".join([*parts, benchmark_groups.summary(group, rows), *last])


def machine_part(folder: Path = STORED) -> str:
    """Say on what the suites were measured."""
    suites: dict[str, list[str]] = {}
    for name in SUITES:
        stored = _read(name, folder)
        if stored is not None:
            suites.setdefault(_machine(stored["machine"]), []).append(name)
    if not suites:
        return NOT_MEASURED
    if len(suites) == 1:
        return paragraph(f"Measured on {next(iter(suites))}.")
    return "\n\n".join(paragraph(f"{', '.join(names)}: measured on {words}.") for words, names in suites.items())


def _read(name: str, folder: Path) -> dict[str, Any] | None:
    path = folder / f"{name}.json"
    stored: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return stored if stored is not None and stored["rows"] else None


def _machine(machine: Mapping[str, str]) -> str:
    about = ("processor", "cores", "system")
    versions = [f"{name} {words}" for name, words in machine.items() if name not in about]
    return f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; {', '.join(versions)}"


def _totals(rows: Stored, of: int) -> str:
    """Count rows, proofs and verdicts that hold, and what values and bounds came from."""
    proofs = [row["proof_s"] for row in rows.values() if row["proof_s"] is not None]
    quickly = sum(proof_s <= QUICKLY_S for proof_s in proofs)
    gaps = [gap for gap in map(gap_of, rows.values()) if gap]
    counted = f"{len(rows)} rows" if len(rows) == of else f"{len(rows)} of {of} rows measured"
    said = [f"**{counted}, {len(proofs)} proved ({quickly} within {QUICKLY_S:g} s)"]
    said += [f"median time to a proof {seconds(median(proofs))} s"] if proofs else []
    text = [f"{', '.join(said)}**."]
    text += [f"Largest gap {percent(max(gaps))}."] if gaps else []
    held = benchmark_groups.held(rows.values())
    text += [f"Held: {held}."] if held else []
    text += [_sources("Values", "value_from", rows.values()), _sources("Bounds", "bound_from", rows.values())]
    return paragraph(" ".join(filter(None, text)))


def _sources(what: str, field: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Count what something comes from, the place left out."""
    counted = Counter(row[field].partition(":")[0] for row in rows if row[field])
    return f"{what} from {', '.join(f'{name} {count}' for name, count in counted.most_common())}." if counted else ""


def _measured(rows: Stored) -> str:
    """Say with what limits, and how often."""
    limits = sorted({row["limit_s"] for row in rows.values()})
    runs = Counter(row["runs"] for row in rows.values())
    limit = f"{limits[0]:g} s" if len(limits) == 1 else f"{limits[0]:g} to {limits[-1]:g} s"
    often = [f"rows run {times} times (medians): {runs[times]}" for times in sorted(runs, reverse=True) if times > 1]
    once = [f"rows run once: {runs[1]}"] if runs[1] else []
    return f"Time limit {limit}; {'; '.join([*often, *once])}."


def _table(rows: Stored) -> str:
    return table(COLUMNS, [_cells(key, row) for key, row in rows.items()])


def _cells(key: str, row: Mapping[str, Any]) -> Sequence[str]:
    gap = gap_of(row)
    return (
        key,
        row["status"] if row["value_ns"] is None else milliseconds(row["value_ns"]),
        "" if row["bound_ns"] is None else milliseconds(row["bound_ns"]),
        "" if gap is None else percent(gap),
        seconds(row["first_s"]),
        seconds(row["one_percent_s"]),
        seconds(row["proof_s"]),
        "" if row["peak_mb"] is None else f"{row['peak_mb']:,.0f}",
        "; ".join(_verdict(*verdict) for verdict in row["verdicts"] if tuple(verdict[:2]) != UNTOLD),
    )


def _verdict(name: str, holds: bool, words: str) -> str:
    return f"{'' if holds else '**not** '}{name}: {words}"
