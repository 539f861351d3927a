"""A sweep as a picture: lines of the value over the first axis, one for each value of the second.

A faint band reaches from each line down to what is proved; points that are proved are filled. Further axes make a panel
for each combination of their values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.export.svg.caption import Caption
from crosspipe.export.svg.marks import vertical, words
from crosspipe.export.svg.numbers import px, shorten, text
from crosspipe.export.svg.palette import FILLS, INK, MEMORY, PAPER, SOFT_INK, mixed
from crosspipe.export.svg.picture import FONT
from crosspipe.problem.operations import Kind
from crosspipe.sweeps.axes import axis_text, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.sweeps.models import Sweep, SweepAxis, SweepPoint, Value

WIDTH, PANEL = 900.0, 400.0
MARGIN, LEFT, RIGHT = 20.0, 84.0, 104.0
HEAD, FOOT = 22.0, 48.0
"""In px: the picture and each panel; its margin; room for the axis, for the names of lines, above and below."""

NAME_STEP = 15.0
"""Least distance between the names of two lines, in px."""

MOST_PANELS = 12
STOPS = (FILLS[Kind.F], MEMORY, FILLS[Kind.BW], FILLS[Kind.B])
"""Colours from the first line to the last."""

Spot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Panel:
    """Where values of the first axis and milliseconds lie, in px."""

    xs: dict[Value, float]
    top: float
    bottom: float
    least_ms: float
    most_ms: float

    def y(self, time_ms: float) -> float:
        return self.bottom - (self.bottom - self.top) * (time_ms - self.least_ms) / (self.most_ms - self.least_ms)


def sweep_svg(sweep: Sweep, caption: Caption | None = None) -> str:
    """Draw a sweep.

    Parameters
    ----------
    sweep
        What to draw.
    caption
        Title and lines above the picture; without, the name of the spec and what the axes are.

    Returns
    -------
    str
        A self-contained SVG document, the same for the same input.
    """
    said = caption or Caption(sweep.name or "Sweep", _about(sweep))
    groups: dict[tuple[Value, ...], list[SweepPoint]] = {}
    for point in sweep.points:
        if not point.reference:
            groups.setdefault(tuple(point.at.values())[2:], []).append(point)
    shown = dict(list(groups.items())[:MOST_PANELS])
    lines, y = [words(MARGIN, 36, shorten(said.title, WIDTH - 2 * MARGIN, 18), 18, INK, weight=600)], 36.0
    told = [*said.lines, *([f"the first {MOST_PANELS} of {len(groups)} panels"] if len(groups) > MOST_PANELS else [])]
    for line in told:
        y += 20
        lines.append(words(MARGIN, y, shorten(line, WIDTH - 2 * MARGIN, 13), 13, SOFT_INK))
    y += 14
    known = [point for points in shown.values() for point in points if point.value_ms is not None]
    for others, points in shown.items():
        title = ", ".join(value_text(axis.name, at) for axis, at in zip(sweep.axes[2:], others, strict=True))
        lines += _panel(sweep, points, known, y, title)
        y += PANEL
    description = ". ".join([*told, *(reading.sentence.rstrip(".") for reading in sweep.readings)])
    return _document(sweep, said.title, description, y, lines)


def _about(sweep: Sweep) -> tuple[str, ...]:
    lines = f", a line for each {axis_text(sweep.axes[1].name)}" if len(sweep.axes) > 1 else ""
    return (
        f"{sweep.objective} over {axis_text(sweep.axes[0].name)}{lines}",
        "filled points are proved optimal, bands reach down to what is proved",
    )


def _panel(
    sweep: Sweep, points: Sequence[SweepPoint], known: Sequence[SweepPoint], top: float, title: str
) -> list[str]:
    values = [point.value_ms for point in known if point.value_ms is not None] or [0.0]
    bounds = [point.lower_bound_ms for point in known if point.lower_bound_ms is not None]
    least, most = min([*values, *bounds]), max(values)
    slack = 0.06 * (most - least) or 1.0
    first = sweep.axes[0]
    panel = _Panel(_xs(first), top + HEAD, top + PANEL - FOOT, least - slack, most + slack)
    lines = [*_axes(panel, first), *([words(LEFT, top + 12, title, 13, INK, weight=600)] if title else [])]
    second: Sequence[Value] = sweep.axes[1].values if len(sweep.axes) > 1 else [None]
    ends: list[tuple[float, str, str]] = []
    for number, other in enumerate(second):
        line = [point for point in points if len(sweep.axes) < 2 or point.at[sweep.axes[1].name] == other]
        colour = _colour(number, len(second))
        spots = [
            (panel.xs[point.at[first.name]], panel.y(point.value_ms)) for point in line if point.value_ms is not None
        ]
        if not spots:
            continue
        lines += _line(panel, first, line, spots, colour)
        if len(sweep.axes) > 1:
            ends.append((spots[-1][1], value_text(sweep.axes[1].name, other), colour))
    return lines + _names(panel, ends)


def _xs(axis: SweepAxis) -> dict[Value, float]:
    """Place numbers to scale, words side by side."""
    values = list(axis.values)
    scale = [float(value) if isinstance(value, int | float) else float(at) for at, value in enumerate(values)]
    low, width = scale[0], (scale[-1] - scale[0]) or 1.0
    right = WIDTH - MARGIN - RIGHT
    return {value: LEFT + (right - LEFT) * (at - low) / width for value, at in zip(values, scale, strict=True)}


def _line(
    panel: _Panel, axis: SweepAxis, points: Sequence[SweepPoint], spots: Sequence[Spot], colour: str
) -> list[str]:
    """Draw the band down to the bounds, the line, and a dot for each point."""
    lines = []
    bounded = [point for point in points if point.value_ms is not None and point.lower_bound_ms is not None]
    if any(point.status != "optimal" for point in bounded):
        upper = [(panel.xs[point.at[axis.name]], panel.y(point.value_ms or 0.0)) for point in bounded]
        lower = [(panel.xs[point.at[axis.name]], panel.y(point.lower_bound_ms or 0.0)) for point in bounded]
        lines.append(f'<path d="M{_path([*upper, *lower[::-1]])}z" fill="{colour}" fill-opacity=".18"/>')
    if len(spots) > 1:
        lines.append(f'<path d="M{_path(spots)}" fill="none" stroke="{colour}" stroke-width="2"/>')
    with_value = (point for point in points if point.value_ms is not None)
    for point, (x, y) in zip(with_value, spots, strict=True):
        fill = colour if point.status == "optimal" else PAPER
        lines.append(f'<circle cx="{px(x)}" cy="{px(y)}" r="3.6" fill="{fill}" stroke="{colour}" stroke-width="1.6"/>')
    return lines


def _path(spots: Sequence[Spot]) -> str:
    return "L".join(f"{px(x)} {px(y)}" for x, y in spots)


def _colour(number: int, count: int) -> str:
    """Colour of a line: from the first stop to the last, in even steps."""
    if count == 1:
        return STOPS[0]
    at = number / (count - 1) * (len(STOPS) - 1)
    stop = min(int(at), len(STOPS) - 2)
    return mixed(STOPS[stop], STOPS[stop + 1], at - stop)


def _names(panel: _Panel, ends: Sequence[tuple[float, str, str]]) -> list[str]:
    """Name the lines at their right ends, moved apart where they would cover each other."""
    ordered = sorted(ends)
    places = [y for y, _, _ in ordered]
    for at in range(1, len(places)):
        places[at] = max(places[at], places[at - 1] + NAME_STEP)
    lowest = panel.bottom
    for at in reversed(range(len(places))):
        places[at] = min(places[at], lowest)
        lowest = places[at] - NAME_STEP
    lines, x = [], WIDTH - MARGIN - RIGHT
    for place, (y, name, colour) in zip(places, ordered, strict=True):
        lines.append(f'<path d="M{px(x + 7)} {px(y)}L{px(x + 16)} {px(place)}" stroke="{colour}"/>')
        lines.append(words(x + 20, place + 4, shorten(name, RIGHT - 20, 12), 12, INK))
    return lines


def _axes(panel: _Panel, axis: SweepAxis) -> list[str]:
    right = WIDTH - MARGIN - RIGHT
    lines = []
    for time_ms in _ticks(panel.least_ms, panel.most_ms):
        y = panel.y(time_ms)
        lines.append(f'<path d="M{px(LEFT)} {px(y)}H{px(right)}" stroke="{INK}" stroke-opacity=".12"/>')
        lines.append(words(LEFT - 8, y + 4, f"{time_ms:,.10g} ms", 12, SOFT_INK, "end"))
    written = -math.inf
    for value, x in panel.xs.items():
        lines.append(vertical(x, panel.top, panel.bottom, INK, 'stroke-opacity=".08"'))
        name = value_text(axis.name, value)
        if x - written > 7.0 * len(name) + 6:
            lines.append(words(x, panel.bottom + 18, name, 12, SOFT_INK, "middle"))
            written = x
    lines.append(words((LEFT + right) / 2, panel.bottom + 37, axis_text(axis.name), 12, SOFT_INK, "middle"))
    return [*lines, f'<path d="M{px(LEFT)} {px(panel.bottom)}H{px(right)}" stroke="{SOFT_INK}"/>']


def _ticks(least: float, most: float, wanted: int = 7) -> list[float]:
    """Give round figures between two: steps of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((most - least) / wanted))
    step = next(power * lead for lead in (1, 2, 5, 10) if (most - least) / (power * lead) <= wanted)
    return [step * count for count in range(math.ceil(least / step), math.floor(most / step) + 1)]


def _document(sweep: Sweep, title: str, description: str, height: float, elements: Sequence[str]) -> str:
    mark = f"cp{sweep.digest[:8]}"
    size = f'width="{px(WIDTH)}" height="{px(height)}" viewBox="0 0 {px(WIDTH)} {px(height)}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="{mark}-title {mark}-desc" '
        f'font-family="{FONT}">',
        f'<title id="{mark}-title">{text(title)}</title>',
        f'<desc id="{mark}-desc">{text(description)}</desc>',
        f'<rect width="{px(WIDTH)}" height="{px(height)}" rx="6" fill="{PAPER}"/>',
    ]
    return "\n".join([*head, *elements, "</svg>", ""])
