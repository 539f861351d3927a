"""Figures of the benchmarks as they stand in cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

NS_PER_MS = 10**6
NOT_MEASURED = "Not measured."


def milliseconds(time_ns: int) -> str:
    """Write a time in ms, to the microsecond at most."""
    text = f"{time_ns / NS_PER_MS:,.3f}"
    return text.rstrip("0").rstrip(".")


def seconds(time_s: float | None) -> str:
    """Write a time in seconds."""
    return "" if time_s is None else f"{time_s:,.2f}"


def percent(gap: float) -> str:
    """Write a gap; one that is too small to show is not shown as none."""
    return "0" if not gap else "< 0.01 %" if gap < 0.00005 else f"{100 * gap:.2f} %"


def gap_of(row: Mapping[str, Any]) -> float | None:
    """Give (value - bound) / value of a stored row."""
    value_ns, bound_ns = row["value_ns"], row["bound_ns"]
    if value_ns is None or bound_ns is None:
        return None
    return max(0.0, (value_ns - bound_ns) / value_ns) if value_ns else 0.0
