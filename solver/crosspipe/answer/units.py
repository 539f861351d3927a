"""Integers of the problem as the numbers an answer shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.problem.rounding import BYTES_PER_MB, NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Iterable


def to_ms(ns: int) -> float:
    """Milliseconds; the shortest text of the result is the exact decimal below 10^15 ns (11 days)."""
    return ns / NS_PER_MS


def to_ms_or_none(ns: int | None) -> float | None:
    """Milliseconds, None for unknown."""
    return None if ns is None else to_ms(ns)


def to_ns(ms: float) -> int:
    """Nanoseconds again of what `to_ms` has made of them; exact below 10^15 ns."""
    return round(ms * NS_PER_MS)


def all_ms(values_ns: Iterable[int]) -> list[float]:
    """Milliseconds of many."""
    return [value / NS_PER_MS for value in values_ns]


def to_mb(size_bytes: int) -> float:
    """Megabytes of 10^6 bytes."""
    return size_bytes / BYTES_PER_MB
