"""The whole picture: title, legend, timeline and memory, as one self-contained SVG document without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.export.svg.caption import Caption, counts
from crosspipe.export.svg.legend import draw_legend
from crosspipe.export.svg.marks import vertical, words
from crosspipe.export.svg.memory import draw_meters, limit_in_sight, meters, meters_height
from crosspipe.export.svg.numbers import ms, px, shorten, text
from crosspipe.export.svg.palette import GRID, HATCH, INK, PAPER, SOFT_INK
from crosspipe.export.svg.rows import stack
from crosspipe.export.svg.scale import Scale, tick_label, ticks
from crosspipe.export.svg.timeline import Drawing, draw_rows
from crosspipe.schedule.measure import makespan_ns
from crosspipe.schedule.replay import resolved

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

WIDTH = 1200
LEFT = 140.0
RIGHT = 1096.0
MARGIN = 16.0
MOST_EXACT = 6000
"""With more operations than this, rows show shares of time by columns, without microbatch numbers."""

MOST_COLUMNS = 24_000
"""Columns in all rows together, which bounds the size of such a picture."""

FONT = "Inter,system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"


def timeline_svg(problem: Problem, schedule: Schedule, caption: Caption | None = None) -> str:
    """Draw a schedule.

    Parameters
    ----------
    problem, schedule
        What to draw; recompute options of the schedule are applied here.
    caption
        Title and lines above the picture; without, the counts and the makespan.

    Returns
    -------
    str
        An SVG document 1200 px wide and below 2 MB, the same for the same input.
    """
    timed = resolved(problem, schedule.orders)
    said = caption if caption is not None else Caption(lines=(counts(timed, schedule),))
    horizon = max(makespan_ns(schedule), 1)
    scale = Scale(LEFT, RIGHT - LEFT, horizon)
    mark = "cp" + "".join(char for char in problem.digest if char.isalnum() and char.isascii())[:8]
    rows, held = stack(timed), meters(timed, schedule)
    drawn = len(rows) + len(held)
    column_px = None if len(timed.operations) <= MOST_EXACT else max(2.0, drawn * scale.width / MOST_COLUMNS)

    head, y = _head(said)
    legend, height = draw_legend(
        timed, MARGIN, WIDTH - MARGIN, y, mark, bool(held) and limit_in_sight(held), column_px is None
    )
    top = y + height + 26
    bottom = top + rows[-1].bottom
    body = draw_rows(Drawing(timed, schedule, scale, top, column_px, mark), rows)
    grid = _grid(scale, top - 6, bottom + 6)
    axis = _axis(scale, top - 12)
    if held:
        begin = bottom + 44
        body.append(words(MARGIN, begin - 14, "Memory", 13, INK, weight=600))
        body.append(words(RIGHT + 12, begin - 14, "peak" if _unlimited(timed) else "peak / limit", 10.5, SOFT_INK))
        body += draw_meters(held, scale, begin, column_px)
        end = begin + meters_height(len(held))
        grid += _grid(scale, begin - 4, end)
        axis += _axis(scale, end + 14)
        bottom = end + 10
    else:
        axis += _axis(scale, bottom + 22)
        bottom += 18
    return _document(said, timed, schedule, mark, bottom + 20, [*head, *legend, *body, *grid, *axis])


def _head(caption: Caption) -> tuple[list[str], float]:
    """Set title and lines; return them and where they end."""
    lines = [words(MARGIN, 34, shorten(caption.title, WIDTH - 2 * MARGIN, 20), 20, INK, weight=600)]
    y = 34.0
    for line in caption.lines:
        y += 20
        lines.append(words(MARGIN, y, shorten(line, WIDTH - 2 * MARGIN, 13), 13, SOFT_INK))
    return lines, y + 16


def _grid(scale: Scale, top: float, bottom: float) -> list[str]:
    """Draw the tick lines over the rows, faintly, and the end of the schedule firmly."""
    lines = [vertical(scale.x(time), top, bottom, INK, 'stroke-opacity=".1"') for time in ticks(scale.horizon_ns)]
    return [*lines, vertical(scale.right, top, bottom, INK, 'stroke-width="1.2"')]


def _axis(scale: Scale, baseline: float) -> list[str]:
    """Write the ticks and, in bold, the makespan; ticks too near to it are left out."""
    end = f"{ms(scale.horizon_ns)} ms"
    marks = ticks(scale.horizon_ns)
    step = marks[1] - marks[0] if len(marks) > 1 else scale.horizon_ns
    lines = [words(scale.right, baseline, end, 11, INK, "middle", 600)]
    for time in marks:
        label = tick_label(time, step)
        if scale.right - scale.x(time) > 3.6 * (len(end) + len(label)):
            lines.append(words(scale.x(time), baseline, label, 10.5, SOFT_INK, "middle"))
    return lines


def _unlimited(problem: Problem) -> bool:
    """Whether no device has a memory limit."""
    return all(pool.capacity is None for pool in problem.pools if pool.unit == "bytes")


def _document(
    caption: Caption, problem: Problem, schedule: Schedule, mark: str, height: float, elements: list[str]
) -> str:
    """Wrap the elements into a document with a name and a description for screen readers."""
    told = ". ".join([*caption.lines, f"Timeline of {counts(problem, schedule)}"])
    hatch = (
        f'<pattern id="{mark}-closed" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="5" height="5" fill="{GRID}"/><path d="M0 0V5" stroke="{HATCH}" stroke-width="2.4"/></pattern>'
        f'<pattern id="{mark}-slow" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">'
        f'<path d="M0 0V5" stroke="{HATCH}" stroke-width="1"/></pattern>'
    )
    size = f'width="{WIDTH}" height="{px(height)}" viewBox="0 0 {WIDTH} {px(height)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="{mark}-title {mark}-desc" '
            f'font-family="{FONT}">',
            f'<title id="{mark}-title">{text(caption.title)}</title>',
            f'<desc id="{mark}-desc">{text(told)}</desc>',
            f"<defs>{hatch}</defs>",
            f'<rect width="{WIDTH}" height="{px(height)}" rx="6" fill="{PAPER}"/>',
            *elements,
            "</svg>",
            "",
        ]
    )
