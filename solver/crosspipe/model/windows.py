"""Closed intervals of a lane up to a horizon, as CP-SAT needs them: sorted, disjoint, finitely many."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.problem.links import Lane

MOST_WINDOWS = 2000
"""Most closed intervals modelled on one lane; a lane with more is modelled as always open, which only lowers bounds."""


def closed_ns(lane: Lane, horizon_ns: int, shortest_ns: int) -> tuple[tuple[int, int], ...] | None:
    """List the closed intervals `[start, end)` of a lane that begin before the horizon.

    Windows that are slower but open are left out: the model lets a transfer run at full rate there, a relaxation.
    Two closed intervals with less than `shortest_ns` between them are joined, as no transfer fits between them.

    Parameters
    ----------
    lane
        The lane.
    horizon_ns
        Latest end of any operation, nanoseconds.
    shortest_ns
        Duration of the shortest transfer on the lane.

    Returns
    -------
    tuple or None
        Sorted disjoint intervals, ends cut at the horizon; None if there would be more than `MOST_WINDOWS`.
    """
    found: list[tuple[int, int]] = []
    for window in lane.windows:
        if window.rate_bps:
            continue
        end = horizon_ns if window.end_ns is None else window.end_ns
        if window.period_ns is None:
            found.append((window.start_ns, end))
            continue
        if horizon_ns // window.period_ns + len(found) > MOST_WINDOWS:
            return None
        found += [(at + window.start_ns, at + end) for at in range(0, horizon_ns, window.period_ns)]
    joined: list[tuple[int, int]] = []
    for start, end in sorted((start, min(end, horizon_ns)) for start, end in found if start < horizon_ns):
        if joined and start - joined[-1][1] < max(shortest_ns, 1):
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return tuple(joined)
