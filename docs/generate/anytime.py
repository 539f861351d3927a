"""The picture of value and bound over time, from the histories that `python -m bench --keep` has left."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.generate.benchmark_cells import NOT_MEASURED, milliseconds, percent

from crosspipe.export.svg.marks import rect, vertical, words
from crosspipe.export.svg.numbers import px, shorten, text
from crosspipe.export.svg.palette import FILLS, INK, PAPER, SOFT_INK
from crosspipe.export.svg.picture import FONT
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

IMAGES = Path(__file__).resolve().parents[1] / "images"
MEASURED = IMAGES / "anytime.json"
PICTURE = IMAGES / "anytime.svg"

MOST_PANELS = 3
WIDTH, HEIGHT = 1080.0, 330.0
MARGIN, LEFT, RIGHT = 20.0, 62.0, 14.0
TOP, BOTTOM = 104.0, 282.0
"""In px: the picture; between panels, and what is left of an axis and right of it; ends of the axes."""

VALUE, BOUND = FILLS[Kind.F], FILLS[Kind.BW]
TITLE = "Value and lower bound over time"

NAMES = {
    "ud_p8_m32_40-42-30_c0_cap1.0_3:10,80": "8 devices, 32 microbatches, a slow hop",
    "wave_p8_m16_20-21-15_c0_cap1_1:10,80_3:10,80_5:10,80": "wave, 8 devices, three slow hops",
    "32x256 rand 1x": "32 unlike devices, 256 microbatches",
    "two-sites-1.5b-32gb": "two sites, 32 GB a device",
}
"""What the rows are called in the picture."""

Curve = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Panel:
    """Where the seconds, on a logarithmic axis, and the milliseconds of a curve lie, in px."""

    left: float
    right: float
    first_s: float
    last_s: float
    least_ms: float
    most_ms: float

    def x(self, time_s: float) -> float:
        """Return the place of a moment, kept within the axis."""
        reached = math.log(max(time_s, self.first_s) / self.first_s) / math.log(self.last_s / self.first_s)
        return self.left + (self.right - self.left) * min(reached, 1.0)

    def y(self, time_ms: float) -> float:
        """Return the height of a value or bound."""
        return BOTTOM - (BOTTOM - TOP) * (time_ms - self.least_ms) / (self.most_ms - self.least_ms)


def picture_part(source: Path = MEASURED) -> str:
    """Embed the picture and say what it shows."""
    curves = _curves(source)
    if not curves:
        return NOT_MEASURED
    shown = "; ".join(f"`{curve['key']}` ({curve['suite']}): {_outcome(curve)}" for curve in curves)
    return f"![{TITLE} of {len(curves)} instances](../images/{PICTURE.name})\n\nFrom left to right: {shown}."


def picture(source: Path = MEASURED) -> str | None:
    """Draw a panel per curve, the first three; None where none is measured."""
    curves = _curves(source)
    if not curves:
        return None
    width = (WIDTH - 2 * MARGIN) / MOST_PANELS
    told = ". ".join(f"{_name(curve)}: {_outcome(curve)}" for curve in curves)
    size = f'width="{px(WIDTH)}" height="{px(HEIGHT)}" viewBox="0 0 {px(WIDTH)} {px(HEIGHT)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="anytime-title anytime-desc" '
        f'font-family="{FONT}">',
        f'<title id="anytime-title">{TITLE}</title>',
        f'<desc id="anytime-desc">{text(told)}</desc>',
        f'<rect width="{px(WIDTH)}" height="{px(HEIGHT)}" rx="6" fill="{PAPER}"/>',
        *_legend(),
    ]
    for place, curve in enumerate(curves):
        lines += _panel(curve, MARGIN + width * place, MARGIN + width * (place + 1))
    return "\n".join([*lines, "</svg>", ""])


def _curves(source: Path) -> list[Curve]:
    if not source.exists():
        return []
    curves: list[Curve] = json.loads(source.read_text(encoding="utf-8"))
    known = [curve for curve in curves if any(value for _, value, _ in curve["states"])]
    return known[:MOST_PANELS]


def _name(curve: Mapping[str, Any]) -> str:
    key: str = curve["key"]
    return NAMES.get(key, key)


def _outcome(curve: Mapping[str, Any]) -> str:
    """Say how it ended: value, and proof or gap."""
    _, value, bound = curve["states"][-1]
    after = f"{curve['end_s']:.2g} s" if curve["end_s"] < 10 else f"{curve['end_s']:.0f} s"
    if bound is None:
        return f"{milliseconds(value)} ms after {after}"
    if value == bound:
        return f"{milliseconds(value)} ms, proved in {after}"
    return f"{milliseconds(value)} ms, gap {percent((value - bound) / value)} after {after}"


def _legend() -> list[str]:
    lines = [words(MARGIN, 34, TITLE, 17, INK, weight=600)]
    for x, colour, name in ((MARGIN + 300, VALUE, "value of the best schedule"), (MARGIN + 520, BOUND, "lower bound")):
        lines += [rect(x, 27, 18, 3, colour), words(x + 25, 33, name, 13, INK)]
    return [*lines, words(WIDTH - MARGIN - 4, 33, "ms; seconds on a logarithmic axis", 12, SOFT_INK, "end")]


def _panel(curve: Curve, left: float, right: float) -> list[str]:
    """Draw axes, the gap as an area, and both lines as steps."""
    values = [value for _, value, _ in curve["states"] if value is not None]
    bounds = [bound for _, _, bound in curve["states"] if bound is not None]
    least, most = min([*bounds, *values]) / 1e6, max([*bounds, *values]) / 1e6
    slack = 0.05 * (most - least) or 1.0
    first_s = 10.0 ** math.floor(math.log10(max(curve["states"][0][0], 1e-3)))
    last_s = max(1.25 * curve["end_s"], 10.0 * first_s)
    panel = Panel(left + LEFT, right - RIGHT, first_s, last_s, least - slack, most + slack)
    value_line = list(_steps(panel, [(s, v) for s, v, _ in curve["states"] if v is not None], curve["end_s"]))
    bound_line = list(_steps(panel, [(s, b) for s, _, b in curve["states"] if b is not None], curve["end_s"]))
    lines = [
        words(left + 4, 66, shorten(_name(curve), right - left - 8, 14), 14, INK, weight=600),
        words(left + 4, 84, _outcome(curve), 12.5, SOFT_INK),
        *_axes(panel),
    ]
    if bound_line:
        area = value_line + bound_line[::-1]
        from_x = max(value_line[0][0], bound_line[0][0])
        shape = "L".join(f"{px(max(x, from_x))} {px(y)}" for x, y in area)
        lines.append(f'<path d="M{shape}z" fill="{SOFT_INK}" fill-opacity=".12"/>')
    for line, colour in ((value_line, VALUE), (bound_line, BOUND)):
        if line:
            shape = "L".join(f"{px(x)} {px(y)}" for x, y in line)
            lines.append(f'<path d="M{shape}" fill="none" stroke="{colour}" stroke-width="2.2"/>')
    if bound_line and value_line[-1] == bound_line[-1]:
        x, y = value_line[-1]
        lines.append(f'<circle cx="{px(x)}" cy="{px(y)}" r="4.5" fill="{PAPER}" stroke="{INK}" stroke-width="2"/>')
    return lines


def _steps(panel: Panel, known: Sequence[tuple[float, int]], end_s: float) -> Iterator[tuple[float, float]]:
    """Give the corners of a line that holds each figure until the next."""
    height = None
    for time_s, time_ns in known:
        x = panel.x(time_s)
        if height is not None:
            yield x, height
        height = panel.y(time_ns / 1e6)
        yield x, height
    if height is not None:
        yield panel.x(end_s), height


def _axes(panel: Panel) -> list[str]:
    lines = []
    for time_ms in _round_steps(panel.least_ms, panel.most_ms):
        y = panel.y(time_ms)
        across = f"M{px(panel.left)} {px(y)}H{px(panel.right)}"
        lines.append(f'<path d="{across}" stroke="{INK}" stroke-opacity=".12"/>')
        lines.append(words(panel.left - 7, y + 4, f"{time_ms:,.10g}", 12, SOFT_INK, "end"))
    decade = panel.first_s
    while decade <= panel.last_s:
        lines.append(vertical(panel.x(decade), TOP, BOTTOM, INK, 'stroke-opacity=".12"'))
        lines.append(words(panel.x(decade), BOTTOM + 18, f"{decade:g}", 12, SOFT_INK, "middle"))
        decade = float(f"{10 * decade:g}")
    lines.append(words((panel.left + panel.right) / 2, BOTTOM + 36, "seconds", 12, SOFT_INK, "middle"))
    return [*lines, f'<path d="M{px(panel.left)} {px(BOTTOM)}H{px(panel.right)}" stroke="{SOFT_INK}"/>']


def _round_steps(least: float, most: float, wanted: int = 4) -> list[float]:
    """Give round figures between two: steps of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((most - least) / wanted))
    step = next(power * lead for lead in (1, 2, 5, 10) if (most - least) / (power * lead) <= wanted)
    return [step * count for count in range(math.ceil(least / step), math.floor(most / step) + 1)]
