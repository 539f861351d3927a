"""The upper half of the picture: who works on what, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.export.svg.blocks import Block, exact_blocks, fills
from crosspipe.export.svg.marks import band, rect, words
from crosspipe.export.svg.numbers import percent, px, shorten, text
from crosspipe.export.svg.palette import FILLS, IDLE, INK, LANE_IDLE, SOFT_INK, ink_on
from crosspipe.export.svg.shares import share_bands
from crosspipe.export.svg.windows import intervals
from crosspipe.problem.operations import NO_RESOURCE, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.export.svg.rows import Row
    from crosspipe.export.svg.scale import Scale
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

    IntArray = NDArray[np.int64]

DIGIT_EM = 0.6
"""Width of a digit taken for the question whether a label fits."""

LARGEST_LABEL = 10.0
SMALLEST_LABEL = 7.6

LABEL_MARGIN_PX = 2.6
"""Room left beside the widest number: the gap between blocks, and a px on each side."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What all rows are drawn from.

    Attributes
    ----------
    top
        Where the first row begins, in px.
    column_px
        Width of a column of shares; None draws every operation.
    mark
        Prefix of the ids in the document.
    """

    problem: Problem
    schedule: Schedule
    scale: Scale
    top: float
    column_px: float | None
    mark: str

    @property
    def label_size(self) -> float:
        """One size for all microbatch numbers, so that the longest fits the usual forward or backward."""
        ops = self.problem.operations
        width = self.scale.width * float(np.median(ops.duration_ns[ops.kind == Kind.F])) / self.scale.horizon_ns
        return min(max((width - LABEL_MARGIN_PX) / (DIGIT_EM * self.digits), SMALLEST_LABEL), LARGEST_LABEL)

    @property
    def digits(self) -> int:
        """Digits of the largest microbatch number."""
        return len(str(self.problem.microbatches - 1))


def draw_rows(drawing: Drawing, rows: tuple[Row, ...]) -> list[str]:
    """Draw all rows."""
    fill_of = fills(drawing.problem)
    draw = {"header": _header, "device": _device, "lane": _lane}
    return [line for row in rows for line in draw[row.kind](drawing, row, fill_of)]


def _header(drawing: Drawing, row: Row, _: list[str]) -> list[str]:
    """Draw the name of a site."""
    baseline = drawing.top + row.bottom - 7
    return [words(16, baseline, shorten(row.label, 420, 13), 13, INK, weight=600)]


def _device(drawing: Drawing, row: Row, fill_of: list[str]) -> list[str]:
    """Draw a device: idle ground, its operations, the microbatch numbers, its name and its idle share."""
    scale, top = drawing.scale, drawing.top + row.top
    operations = drawing.problem.by_resource[row.resource]
    size = min(row.height * 0.6, drawing.label_size)
    middle = top + row.height / 2
    blocks, bands = _bands(drawing, operations, fill_of, top, row.height)
    labels = _labels(blocks, middle + size * 0.36, size, drawing.digits)
    lines = [rect(scale.left, top, scale.width, row.height, IDLE), *bands, *labels]
    name_size = min(row.height * 0.8, 11.5)
    lines.append(words(scale.left - 10, middle + name_size * 0.36, _name(row, name_size), name_size, INK, "end"))
    idle = 1 - _busy(drawing.schedule, operations) / scale.horizon_ns
    if row.height >= 10:
        lines.append(words(scale.right + 12, middle + 4, f"idle {percent(idle)}", min(row.height * 0.8, 11), SOFT_INK))
    return lines


def _lane(drawing: Drawing, row: Row, fill_of: list[str]) -> list[str]:
    """Draw a lane: its windows, its messages, the time they fly, its name and its busy share."""
    scale, top, problem = drawing.scale, drawing.top + row.top, drawing.problem
    lines = [rect(scale.left, top, scale.width, row.height, LANE_IDLE)]
    if row.resource == NO_RESOURCE:
        loose = [number for _, number in problem.extras if problem.operations.resource[number] == NO_RESOURCE]
        operations = np.array(loose, dtype=np.int64)
    else:
        operations = problem.by_resource[row.resource]
        lane = problem.lanes[row.resource - len(problem.devices)]
        for closed in (False, True):
            fill = f"url(#{drawing.mark}-{'closed' if closed else 'slow'})"
            for start, end in intervals(lane, scale.horizon_ns, closed=closed):
                lines.append(rect(scale.x(start), top, scale.x(end) - scale.x(start), row.height, fill))
        busy = _busy(drawing.schedule, operations) / scale.horizon_ns
        lines.append(words(scale.right + 12, top + row.height - 2.2, f"busy {percent(busy)}", 10.5, SOFT_INK))
        if drawing.column_px is None:
            lines += _flights(drawing, operations, top + row.height / 2)
    blocks, bands = _bands(drawing, operations, fill_of, top + 1, row.height - 2)
    lines += bands
    extras = [block for block in blocks if block.label is not None and block.fill == FILLS[Kind.EXTRA]]
    lines += _labels(extras, top + row.height - 2.6, 8)
    lines.append(words(scale.left - 10, top + row.height - 2.2, _name(row, 10.5), 10.5, SOFT_INK, "end"))
    return lines


def _bands(
    drawing: Drawing, operations: IntArray, fill_of: list[str], top: float, height: float
) -> tuple[list[Block], list[str]]:
    """Draw the operations of a row; return the blocks that may be labelled, and the elements."""
    if drawing.column_px is not None:
        place = (top, height)
        return [], share_bands(drawing.schedule, operations, drawing.scale, fill_of, drawing.column_px, place)
    blocks = exact_blocks(drawing.problem, drawing.schedule, operations.tolist(), drawing.scale, fill_of)
    return blocks, band(blocks, top, height)


def _labels(blocks: list[Block], baseline: float, size: float, digits: int = 1) -> list[str]:
    """Write into each block that is wide enough; one group per ink, so that a label costs few bytes.

    A block must have room for `digits`, so that operations of one length are all numbered or none is.
    """
    if size < 6:
        return []
    groups: dict[str, list[str]] = {}
    for block in blocks:
        if block.label is None:
            continue
        if block.right - block.left - 1 >= DIGIT_EM * size * max(digits, len(block.label)):
            place = f'<text x="{px((block.left + block.right) / 2 - 0.3)}">{text(block.label)}</text>'
            groups.setdefault(ink_on(block.fill), []).append(place)
    return [
        f'<g font-size="{px(size)}" fill="{ink}" text-anchor="middle" transform="translate(0 {px(baseline)})">'
        f"{''.join(labels)}</g>"
        for ink, labels in groups.items()
    ]


def _flights(drawing: Drawing, operations: IntArray, y: float) -> list[str]:
    """Draw the latency after each transfer as a thin line, one path per kind."""
    ops, scale = drawing.problem.operations, drawing.scale
    latency = {
        (hop.kind, hop.boundary, number): leg.latency_ns
        for hop in drawing.problem.hops
        for number, leg in enumerate(hop.legs)
    }
    paths: dict[Kind, list[str]] = {}
    for operation in operations.tolist():
        kind = Kind(int(ops.kind[operation]))
        lag = latency.get((kind, int(ops.stage[operation]), int(ops.leg[operation])), 0)
        if lag:
            end = int(drawing.schedule.end_ns[operation])
            paths.setdefault(kind, []).append(f"M{px(scale.x(end))} {px(y)}H{px(scale.x(end + lag))}")
    return [
        f'<path d="{"".join(parts)}" stroke="{FILLS[kind]}" stroke-opacity=".5" stroke-width="1.2"/>'
        for kind, parts in paths.items()
    ]


def _busy(schedule: Schedule, operations: IntArray) -> int:
    """Add up the time the operations take, in ns."""
    return int((schedule.end_ns[operations] - schedule.start_ns[operations]).sum())


def _name(row: Row, size: float) -> str:
    """Cut a row's name to the room at the left."""
    return shorten(row.label, 122, size)
