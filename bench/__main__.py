"""Command line of the benchmarks."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from bench.curves import keep_curves
from bench.data import ROOT
from bench.machine import machine
from bench.measurement import Measurement, combined
from bench.processes import measure
from bench.store import Store, code_version
from bench.stored import keep, stored_rows
from bench.suites import SUITES
from bench.table import markdown, table_data
from bench.verdicts import verdicts
from bench.versus_table import duels, versus_data, versus_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.row import Row

RESULTS = ROOT / "bench" / "results"
BASELINE = ROOT / "bench" / "baseline"
CURVES = ROOT / "docs" / "images" / "anytime.json"

SHORT_S = 10.0
"""Rows below this time are run several times."""

QUICK_LIMIT_S = 10.0
"""Longest limit in the short run."""


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure CrossPipe row by row; an interrupted run goes on where it stopped.",
    )
    parser.add_argument(
        "--suite", action="append", choices=SUITES, help="run this suite (may be repeated; default all)"
    )
    parser.add_argument("--quick", action="store_true", help="a few rows of each suite, about 5 minutes")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name contains the text")
    parser.add_argument("--limit-s", type=float, metavar="S", help="time limit of every row instead of its own")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help=f"medians of N for rows below {SHORT_S:g} s")
    parser.add_argument("--fresh", action="store_true", help="forget the rows measured before")
    parser.add_argument("--any-code", action="store_true", help="keep rows that other code has measured")
    parser.add_argument("--list", action="store_true", help="show the rows and end")
    parser.add_argument("--tables", action="store_true", help="write the tables of the rows measured so far and end")
    parser.add_argument("--keep", action="store_true", help="store the table as the one to compare with from now on")
    return parser.parse_args(words)


def rows_of(suite: str, options: argparse.Namespace) -> list[Row]:
    """Build the rows of a suite that are asked for."""
    rows = [row for row in SUITES[suite]() if options.only in row.key and (row.quick or not options.quick)]
    if options.limit_s is not None:
        return [replace(row, limit_s=options.limit_s) for row in rows]
    if options.quick:
        return [replace(row, limit_s=min(row.limit_s, QUICK_LIMIT_S)) for row in rows]
    return rows


def measured_rows(rows: Sequence[Row], store: Store, options: argparse.Namespace) -> list[tuple[Row, Measurement]]:
    """Run the rows that are not in the store yet, and give all that are known."""
    if options.fresh and not options.tables:
        store.clear()
    known = store.read()
    found = []
    for number, row in enumerate(rows, start=1):
        measurement = store.known(row, known, any_code=options.any_code or options.tables)
        if options.tables:
            found += [] if measurement is None else [(row, measurement)]
            continue
        if measurement is None or measurement.status == "failed":
            measurement = _run(row, options.runs)
            store.append(row, measurement)
            _tell(f"[{number}/{len(rows)}] {row.suite}: {row.key}", row, measurement)
        found.append((row, measurement))
    return found


def _run(row: Row, runs: int) -> Measurement:
    """Run a row, and again if it is short."""
    done = [measure(row)]
    while len(done) < runs and done[0].total_s is not None and done[0].total_s < SHORT_S:
        done.append(measure(row))
    return combined(done)


def _tell(what: str, row: Row, measured: Measurement) -> None:
    gap = "" if measured.gap is None else f", gap {measured.gap:.2%}"
    missed = "".join(
        f", NOT {verdict.name}: {verdict.words}" for verdict in verdicts(row, measured) if not verdict.holds
    )
    seconds = "" if measured.total_s is None else f", {measured.total_s:.2f} s"
    print(f"{what}: {measured.status}{gap}{seconds}{missed}", flush=True)


def write_tables(suite: str, folder: Path, measured: list[tuple[Row, Measurement]]) -> str:
    """Write the suite's table as Markdown and JSON; give the Markdown."""
    stored = stored_rows(BASELINE / f"{suite}.json")
    text, data = markdown(suite, measured, stored), table_data(measured, stored)
    if duels(measured):
        text += "\n" + versus_markdown(measured)
        data["versus"] = versus_data(measured)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{suite}.md").write_text(text)
    (folder / f"{suite}.json").write_text(json.dumps({"suite": suite, "machine": machine(), **data}, indent=1) + "\n")
    return text


def main(words: Sequence[str]) -> int:
    """Run; the exit code tells whether every row ran, not how well."""
    options = arguments(words)
    suites = options.suite or list(SUITES)
    if options.list:
        for suite in suites:
            for row in rows_of(suite, options):
                print(f"{suite}: {row.key} ({row.limit_s:g} s)")
        return 0
    folder = RESULTS / "quick" if options.quick else RESULTS
    code = code_version()
    about = ", ".join(f"{name} {value}" for name, value in machine().items())
    texts = [f"# Benchmarks\n\n{about}\n"]
    failed = 0
    for suite in suites:
        rows = rows_of(suite, options)
        measured = measured_rows(rows, Store(folder / f"{suite}.jsonl", code), options)
        texts.append(write_tables(suite, folder, measured))
        if options.keep and measured:
            keep(BASELINE / f"{suite}.json", SUITES[suite](), measured)
            keep_curves(CURVES, measured)
        failed += sum(measurement.status == "failed" for _, measurement in measured)
    (folder / "table.md").write_text("\n".join(texts))
    print(f"{folder.relative_to(ROOT) / 'table.md'} written; {failed} rows failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
