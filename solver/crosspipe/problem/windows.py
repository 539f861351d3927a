"""What a link's windows become: closed and slower intervals of its lanes, in nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.problem.links import Window
from crosspipe.problem.rounding import BITS_PER_GB, to_ns

if TYPE_CHECKING:
    from decimal import Decimal

    from crosspipe.spec.cluster import Link


def windows_of(link: Link) -> tuple[Window, ...]:
    """Compile `closed_ms`, `open_ms` and `slow_ms` of a link; empty intervals vanish, overlaps are kept."""
    period = None if link.period_ms is None else to_ns(link.period_ms)
    closed = [_interval(start, end) for start, end in link.closed_ms or []]
    if link.open_ms is not None:
        closed += _complement([_interval(start, end) for start, end in link.open_ms], period)
    found = [Window(start, end, 0, period) for start, end in closed]
    found += [
        Window(*_interval(start, end), rate_bps=round(rate * BITS_PER_GB), period_ns=period)
        for start, end, rate in link.slow_ms or []
    ]
    return tuple(window for window in found if window.end_ns is None or window.end_ns > window.start_ns)


def _interval(start_ms: Decimal, end_ms: Decimal | None) -> tuple[int, int | None]:
    return to_ns(start_ms), None if end_ms is None else to_ns(end_ms)


def _complement(opened: list[tuple[int, int | None]], period: int | None) -> list[tuple[int, int | None]]:
    closed: list[tuple[int, int | None]] = []
    now: int | None = 0
    for start, end in sorted(opened, key=lambda interval: interval[0]):
        if now is None:
            break
        if start > now:
            closed.append((now, start))
        now = None if end is None else max(now, end)
    if now is not None and (period is None or now < period):
        closed.append((now, period))
    return closed
