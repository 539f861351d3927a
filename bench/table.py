"""The table of a suite, as Markdown and as data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from bench.verdicts import milliseconds, verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.measurement import Measurement
    from bench.row import Row

HEADER = (
    "instance",
    "value ms",
    "bound ms",
    "gap",
    "first s",
    "to 1 % s",
    "proof s",
    "total s",
    "peak MB",
    "value from",
    "bound from",
    "held against",
    "stored",
)
QUICKLY_S = 2.0


def table_data(measured: Sequence[tuple[Row, Measurement]], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Give rows and totals as plain data."""
    return {
        "rows": [_row_data(row, measurement, stored) for row, measurement in measured],
        "totals": totals(measured),
    }


def _row_data(row: Row, measured: Measurement, stored: Mapping[str, Any]) -> dict[str, Any]:
    data = measured.to_json()
    history = data.pop("history")
    return {
        "instance": row.name,
        "contender": row.contender,
        "objective": row.objective,
        "limit_s": row.limit_s,
        **data,
        "gap": measured.gap,
        "verdicts": [[verdict.name, verdict.holds, verdict.words] for verdict in verdicts(row, measured)],
        "stored": stored.get(row.key),
        "history": history,
    }


def totals(measured: Sequence[tuple[Row, Measurement]]) -> dict[str, Any]:
    """Count: rows, proofs, verdicts that hold, time."""
    asked: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for row, measurement in measured:
        for verdict in verdicts(row, measurement):
            asked[verdict.name] += 1
            held[verdict.name] += verdict.holds
    proofs = [measurement.proof_s for _, measurement in measured if measurement.proof_s is not None]
    return {
        "rows": len(measured),
        "proved": len(proofs),
        "proved_quickly": sum(proof_s <= QUICKLY_S for proof_s in proofs),
        "total_s": sum(measurement.total_s or 0.0 for _, measurement in measured),
        "verdicts": {name: [held[name], asked[name]] for name in asked},
    }


def markdown(title: str, measured: Sequence[tuple[Row, Measurement]], stored: Mapping[str, Any]) -> str:
    """Write the table with its totals."""
    lines = [f"## {title}", "", *_totals_lines(measured), "", _line(HEADER), _line(["---"] * len(HEADER))]
    lines += [_line(_cells(row, measurement, stored.get(row.key))) for row, measurement in measured]
    return "\n".join(lines) + "\n"


def _totals_lines(measured: Sequence[tuple[Row, Measurement]]) -> list[str]:
    found = totals(measured)
    share = f"{found['proved_quickly']} within {QUICKLY_S:g} s"
    lines = [f"{found['rows']} rows, {found['proved']} proved ({share}), {found['total_s']:,.1f} s in all."]
    held = [f"{name} {good} of {all_}" for name, (good, all_) in found["verdicts"].items()]
    return [*lines, "", f"Held: {', '.join(held)}."] if held else lines


def _cells(row: Row, measured: Measurement, stored: Mapping[str, Any] | None) -> list[str]:
    return [
        row.key,
        _time_ms(measured.value_ns) if measured.value_ns is not None else measured.status,
        _time_ms(measured.bound_ns),
        "" if measured.gap is None else f"{measured.gap:.2%}",
        _seconds(measured.first_s),
        _seconds(measured.one_percent_s),
        _seconds(measured.proof_s),
        _seconds(measured.total_s),
        "" if measured.peak_mb is None else f"{measured.peak_mb:,.0f}",
        measured.value_from or "",
        measured.bound_from or "",
        "; ".join(f"{'' if v.holds else '**not** '}{v.name}: {v.words}" for v in verdicts(row, measured)),
        "" if stored is None else compared(measured, stored),
    ]


def compared(measured: Measurement, stored: Mapping[str, Any]) -> str:
    """Say how a row stands to the stored one: value, bound, and the time to the proof as a ratio."""
    parts = []
    for name, own, lower in (("value", measured.value_ns, True), ("bound", measured.bound_ns, False)):
        other = stored.get(f"{name}_ns")
        if own == other:
            continue
        if own is None or other is None:
            parts.append(f"{name} {'lost' if own is None else 'new'}")
        else:
            word = "better" if (own < other) == lower else "worse"
            parts.append(f"{name} {word} by {abs(own - other) / other:.3%}")
    times = (measured.proof_s, stored.get("proof_s"))
    if times[0] is not None and times[1]:
        parts.append(f"proof {times[0] / times[1]:.2f} x the time")
    elif (times[0] is None) != (times[1] is None):
        parts.append("proof lost" if times[0] is None else "proof new")
    return ", ".join(parts) or "same"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _time_ms(time_ns: int | None) -> str:
    return "" if time_ns is None else milliseconds(time_ns)


def _seconds(time_s: float | None) -> str:
    return "" if time_s is None else f"{time_s:.2f}"
