"""Windows anchored to the clock: the schedule meets them at an unknown phase and must hold for every one.

Each transfer reserves, on its lane, the longest time that any phase can make it take: waiting for the lane to open,
then the transfer. Whatever the phase, it then starts and ends inside its reservation, so reservations one after another
never meet on the lane and every arrival is on time. The reservation replaces the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.problem.calendar import LaneCalendar
from crosspipe.problem.links import Lane, Window

if TYPE_CHECKING:
    from collections.abc import Iterable


def longest_ns(lane: Lane, duration_ns: int) -> int | None:
    """Longest time from request to end over all phases; None if it can never end."""
    worst = worst_phase(lane, duration_ns)
    return None if worst is None else worst[0]


def worst_phase(lane: Lane, duration_ns: int) -> tuple[int, int] | None:
    """Longest time from request to end over all phases, and the earliest moment of the period whose request takes it.

    None if the transfer can never end.

    The time left to wait falls one for one with a later request until the transfer meets another window, so the longest
    is taken at a request just as a window starts, or at the first one too late to end before a window or to end inside
    it: only those moments are tried (each within one round of the period, one nanosecond either side).
    """
    calendar = LaneCalendar(lane)
    worst, phase_ns = 0, 0
    for request in _moments(lane, duration_ns):
        start = calendar.start(request, duration_ns)
        if start is None:
            return None
        taken = calendar.end(start, duration_ns) - request
        if taken > worst:
            worst, phase_ns = taken, request
    return worst, phase_ns


def _moments(lane: Lane, duration_ns: int) -> Iterable[int]:
    mirrored = _mirror(lane)
    calendar = LaneCalendar(mirrored)
    period = max(window.period_ns or 0 for window in lane.windows)
    found: set[int] = {0}
    for window in lane.windows:
        for edge in (window.start_ns, period if window.end_ns is None else window.end_ns):
            found.add(edge % period)
            # Seen backwards, the latest start that ends by the edge is the earliest end of a transfer begun there.
            start = calendar.start(-edge % period, duration_ns)
            if start is not None:
                found.add(-calendar.end(start, duration_ns) % period)
    return sorted({(moment + step) % period for moment in found for step in (-1, 0, 1)})


def _mirror(lane: Lane) -> Lane:
    """Reverse the time of a lane whose windows all repeat."""
    windows = []
    for window in lane.windows:
        period = window.period_ns
        if period is None:
            raise ValueError("a clock-anchored window must repeat")
        end = period if window.end_ns is None else window.end_ns
        windows.append(Window(period - end, period - window.start_ns, window.rate_bps, period))
    return Lane(lane.name, lane.channel, lane.replica, lane.rate_bps, tuple(windows))
