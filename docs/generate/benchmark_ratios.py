"""Other solvers beside CrossPipe: times to the same value and to the proof, and their ratios."""

from __future__ import annotations

from statistics import median, median_high
from typing import TYPE_CHECKING, Any

from bench.versus_table import HEADER
from docs.generate.benchmark_cells import milliseconds
from docs.generate.markdown import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

OURS = "crosspipe"

SUMMARY = (
    "contender",
    "instances",
    "reaches our value",
    "its value: median ratio",
    "proofs: it / CrossPipe",
    "proof: median ratio",
)


def parts(rows: Mapping[str, Row]) -> list[str]:
    """Write a summary by contender and the table of all pairs, as far as ours was measured, too."""
    ours = {row["instance"]: row for row in rows.values() if row["contender"] == OURS}
    theirs = [row for row in rows.values() if "to_value" in row]
    if not theirs:
        return []
    by_contender: dict[str, list[Row]] = {}
    for row in theirs:
        by_contender.setdefault(row["contender"], []).append(row)
    summary = [_summary(name, found, ours) for name, found in by_contender.items()]
    pairs = [_pair(row, ours[row["instance"]]) for row in theirs]
    return [table(SUMMARY, summary), table(HEADER, pairs)]


def _summary(name: str, rows: Sequence[Row], ours: Mapping[str, Row]) -> Sequence[str]:
    both = [(row, ours[row["instance"]]) for row in rows]
    reached = sum(
        their["value_ns"] is not None and our["value_ns"] is not None and their["value_ns"] <= our["value_ns"]
        for their, our in both
    )
    proofs = [sum(row["proof_s"] is not None for row in side) for side in zip(*both, strict=True)]
    return (
        name,
        str(len(rows)),
        str(reached),
        _middle([row["to_value"] for row in rows]),
        f"{proofs[0]} / {proofs[1]}",
        _middle([row["to_proof"] for row in rows]),
    )


def _middle(ratios: Sequence[Sequence[Any]]) -> str:
    """Give the median; `over` where the true one may be larger, as a contender had not arrived."""
    known = [(ratio, least) for _, _, ratio, least in ratios if ratio is not None]
    if not known:
        return ""
    upper = median_high(ratio for ratio, _ in known)
    over = any(least and ratio <= upper for ratio, least in known)
    return f"{'over ' if over else ''}{_ratio(median(ratio for ratio, _ in known))}"


def _pair(their: Row, our: Row) -> Sequence[str]:
    return (
        their["instance"],
        their["contender"],
        their["status"] if their["value_ns"] is None else milliseconds(their["value_ns"]),
        "" if their["bound_ns"] is None else milliseconds(their["bound_ns"]),
        "" if our["value_ns"] is None else milliseconds(our["value_ns"]),
        *_times(*their["to_value"]),
        *_times(*their["to_proof"]),
    )


def _times(theirs_s: float | None, ours_s: float | None, ratio: float | None, least: bool) -> tuple[str, str]:
    if theirs_s is None and ours_s is None:
        return "", ""
    said = " / ".join("not" if time is None else f"{time:.2f}" for time in (theirs_s, ours_s))
    return said, "" if ratio is None else f"{'over ' if least else ''}{_ratio(ratio)}"


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"
