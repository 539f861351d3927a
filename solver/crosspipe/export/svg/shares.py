"""Rows with more operations than can be seen apart: per column of the picture, the share of time each kind takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.export.svg.numbers import px

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.export.svg.scale import Scale
    from crosspipe.schedule.orders import Schedule

    IntArray = NDArray[np.int64]
    FloatArray = NDArray[np.float64]

LEAST_PX = 0.8
"""A share above zero is never drawn lower."""


def share_bands(
    schedule: Schedule,
    operations: IntArray,
    scale: Scale,
    fill_of: list[str],
    column_px: float,
    place: tuple[float, float],
) -> list[str]:
    """Draw a row as stacked columns: the height of a fill is its share of the column's time, idle time is left empty.

    Parameters
    ----------
    schedule, operations
        Operations of one device or lane, which do not overlap.
    scale, column_px
        The time axis and how wide a column is.
    fill_of
        Fill per operation of the problem.
    place
        Top and height of the row in px.
    """
    top, height = place
    columns = max(int(scale.width / column_px), 1)
    edges = np.linspace(0, scale.horizon_ns, columns + 1)
    order = operations[np.argsort(schedule.start_ns[operations], kind="stable")]
    names = np.array([fill_of[operation] for operation in order.tolist()])
    stacked, levels = np.zeros(columns), []
    for fill in dict.fromkeys(names.tolist()):
        busy = np.diff(_busy_until(schedule, order[names == fill], edges)) / (scale.horizon_ns / columns)
        visible = np.where(busy > 0, np.maximum(busy * height, LEAST_PX), 0)
        stacked = np.minimum(stacked + visible, height)
        levels.append((fill, stacked))
    width = scale.width / columns
    return [
        f'<path fill="{fill}" d="{_steps(level, scale.left, top + height, width)}"/>'
        for fill, level in reversed(levels)
    ]


def _busy_until(schedule: Schedule, order: IntArray, edges: FloatArray) -> FloatArray:
    """Return the time the operations (disjoint, by start) have run until each edge."""
    start, end = schedule.start_ns[order], schedule.end_ns[order]
    total = np.concatenate(([0], np.cumsum(end - start))).astype(np.float64)
    begun = np.searchsorted(start, edges, side="left")
    unfinished = np.where(begun > 0, end[np.maximum(begun - 1, 0)] - edges, 0)
    return total[begun] - np.maximum(unfinished, 0)


def _steps(level: FloatArray, left: float, bottom: float, width: float) -> str:
    """Outline a step area above `bottom`; equal neighbours are drawn as one step."""
    parts, drawn = [f"M{px(left)} {px(bottom)}"], None
    for column, height in enumerate(level.tolist()):
        at = px(round(bottom - height, 1))
        if at != drawn:
            if drawn is not None:
                parts.append(f"H{px(left + column * width)}")
            parts.append(f"V{at}")
            drawn = at
    return "".join([*parts, f"H{px(left + len(level) * width)}V{px(bottom)}z"])
