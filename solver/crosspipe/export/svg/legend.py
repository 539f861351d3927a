"""The legend: only what the picture really shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.export.svg.marks import rect, words
from crosspipe.export.svg.numbers import px
from crosspipe.export.svg.palette import FILLS, IDLE, LIMIT, NAMES, SOFT_INK, shade
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

SIZE_PX = 11.5
LINE_PX = 19.0
CHARACTER_EM = 0.53
MOST_SHADES = 6


def draw_legend(
    problem: Problem, left: float, right: float, top: float, mark: str, limit: bool, exact: bool
) -> tuple[list[str], float]:
    """Draw the legend into `[left, right]` px, wrapping; return its elements and its height.

    `limit` and `exact` say whether a memory limit is in sight and whether operations are drawn one by one.
    """
    x, y, lines = left, top, []
    for swatch, label in _entries(problem, mark, limit, exact):
        width = 14 * len(swatch) + 6 + CHARACTER_EM * SIZE_PX * len(label)
        if x > left and x + width > right:
            x, y = left, y + LINE_PX
        lines += [_swatch(fill, x + 14 * place, y) for place, fill in enumerate(swatch)]
        lines.append(words(x + 14 * len(swatch) + 4, y + 9.5, label, SIZE_PX, SOFT_INK))
        x += width + 16
    return lines, y - top + LINE_PX


def _entries(problem: Problem, mark: str, limit: bool, exact: bool) -> list[tuple[list[str], str]]:
    """List swatches (one or more fills) and their words."""
    used = set(np.unique(problem.operations.kind[problem.operations.duration_ns > 0]).tolist())
    most = max(len(device.stages) for device in problem.devices)
    found = []
    for kind in Kind:
        if kind in used:
            shades = [shade(kind, place, most) for place in range(min(most, MOST_SHADES))] if kind.is_compute else []
            found.append((shades or [FILLS[kind]], NAMES[kind]))
    if most > 1:
        place = next(index for index, entry in enumerate(found) if len(entry[0]) > 1)
        fills, name = found[place]
        found[place] = (fills, f"{name} (paler: later stage of the device)")
    if exact and any(leg.lanes and leg.latency_ns for hop in problem.hops for leg in hop.legs):
        found.append((["line"], "in flight"))
    found.append(([IDLE], "idle"))
    windows = [window for lane in problem.lanes for window in lane.windows]
    if any(window.rate_bps == 0 for window in windows):
        found.append(([f"url(#{mark}-closed)"], "lane closed"))
    if any(window.rate_bps > 0 for window in windows):
        found.append(([f"url(#{mark}-slow)"], "lane slower"))
    if limit:
        found.append((["limit"], "memory limit"))
    if not exact:
        found.append(([], "Too many operations to show apart: heights are shares of time."))
    return found


def _swatch(fill: str, x: float, y: float) -> str:
    """Draw one swatch of 12 px."""
    middle = px(y + 5.5)
    if fill == "line":
        stroke = FILLS[Kind.ACTIVATION]
        return f'<path d="M{px(x)} {middle}h12" stroke="{stroke}" stroke-opacity=".6" stroke-width="1.4"/>'
    if fill == "limit":
        return f'<path d="M{px(x)} {middle}h12" stroke="{LIMIT}" stroke-width="1.2" stroke-dasharray="5 2"/>'
    return rect(x, y, 12, 11, fill, 'stroke="#c3ccd5" stroke-width=".6"' if fill == IDLE or fill[0] == "u" else "")
