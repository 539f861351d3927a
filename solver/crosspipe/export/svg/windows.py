"""Where a lane is closed or slower, as intervals within the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.problem.links import Lane, Window

MOST_INTERVALS = 400
"""Beyond so many repetitions a window is drawn as one interval over all of them."""


def intervals(lane: Lane, horizon_ns: int, closed: bool) -> list[tuple[int, int]]:
    """List as `[start, end)` in ns the windows before the horizon that close a lane or, `closed` false, slow it."""
    found = []
    for window in lane.windows:
        if (window.rate_bps == 0) == closed:
            found += _repeated(window, horizon_ns)
    return sorted(found)


def _repeated(window: Window, horizon_ns: int) -> list[tuple[int, int]]:
    """Unroll a window up to the horizon."""
    end = horizon_ns if window.end_ns is None else window.end_ns
    period = window.period_ns
    if period is None:
        return [(window.start_ns, min(end, horizon_ns))] if window.start_ns < horizon_ns else []
    if horizon_ns // period > MOST_INTERVALS:
        return [(window.start_ns, horizon_ns)]
    shifts = range(0, max(horizon_ns - window.start_ns, 0), period)
    return [(window.start_ns + shift, min(end + shift, horizon_ns)) for shift in shifts]
