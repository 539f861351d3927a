"""A sweep as plain text: a line per point of one axis, a matrix of two, a matrix for each value of what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.answer.summary import counted, percent
from crosspipe.sweeps.axes import value_text
from crosspipe.sweeps.settle import INHERITED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from crosspipe.sweeps.models import Sweep, SweepPoint

PROVED = "*"
MOST_READINGS = 12
"""Readings written out; a table of more is better read from JSON."""

MOST_REFUSALS = 3

NONE, UNKNOWN, MISSING = "none", "unknown", "-"


def sweep_text(sweep: Sweep) -> list[str]:
    """Write a sweep for a terminal: values by the axes, those proved marked, and the readings."""
    shown = [point for point in sweep.points if not point.reference]
    name = f" of {sweep.name}" if sweep.name else ""
    lines = [f"sweep{name}: {sweep.objective} in ms at {counted(len(shown), 'point')}"]
    lines += _list(sweep) if len(sweep.axes) == 1 else _matrices(sweep)
    if any(point.value_ms is not None for point in shown):
        lines.append(_proofs(shown))
    lines += _refusals(shown)
    lines += [reading.sentence for reading in sweep.readings[:MOST_READINGS]]
    more = len(sweep.readings) - MOST_READINGS
    return [*lines, f"... and {counted(more, 'reading')} more in --format json"] if more > 0 else lines


def _refusals(points: Sequence[SweepPoint]) -> list[str]:
    """Say why points have no schedule; what a neighbour has none for is said once, by the neighbour."""
    reasons = {point.explanation for point in points if point.explanation is not None}
    own = {reason for reason in reasons if not reason.startswith(INHERITED)}
    return [f"no schedule: {reason}" for reason in sorted(own or reasons)[:MOST_REFUSALS]]


def _list(sweep: Sweep) -> list[str]:
    """Write a line per point: value, bound, gap, and who made the schedule."""
    axis = sweep.axes[0]
    rows: list[tuple[str, ...]] = [(axis.name, sweep.objective, "bound", "gap", "schedule from")]
    for point in sweep.points:
        bound = "" if point.lower_bound_ms is None else f"{point.lower_bound_ms:,.1f}"
        gap = "proved" if point.status == "optimal" else "" if point.gap is None else percent(point.gap)
        where = value_text(axis.name, point.at[axis.name])
        rows.append((where, _cell(point).removesuffix(f" {PROVED}").strip(), bound, gap, point.value_from or ""))
    return aligned(rows, left={0, len(rows[0]) - 1})


def _matrices(sweep: Sweep) -> Iterator[str]:
    first, second, *rest = sweep.axes
    points = {tuple(point.at.values()): point for point in sweep.points}
    beyond = list(dict.fromkeys(tuple(point.at.values())[2:] for point in sweep.points))
    extra = [any(point.reference and point.at[axis.name] is None for point in sweep.points) for axis in (first, second)]
    rows = [*first.values, *([None] if extra[0] else [])]
    columns = [*second.values, *([None] if extra[1] else [])]
    for others in beyond:
        if rest:
            yield ", ".join(value_text(axis.name, value) for axis, value in zip(rest, others, strict=True)) + ":"
        table = [("", *(value_text(second.name, value) for value in columns))]
        for row in rows:
            cells = (_cell(points.get((row, column, *others))) for column in columns)
            table.append((value_text(first.name, row), *cells))
        yield from aligned(table)


def _cell(point: SweepPoint | None) -> str:
    if point is None:
        return f"{MISSING}  "
    if point.value_ms is None:
        return f"{NONE if point.status == 'infeasible' else UNKNOWN}  "
    return f"{point.value_ms:,.1f} {PROVED if point.status == 'optimal' else ' '}"


def aligned(rows: Sequence[Sequence[str]], left: Set[int] = frozenset({0})) -> list[str]:
    """Align the columns of `left` left, the others right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            text.ljust(width) if number in left else text.rjust(width)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _proofs(points: Sequence[SweepPoint]) -> str:
    open_ones = [point for point in points if point.status == "feasible" and point.gap is not None]
    proved = f"{PROVED} proved optimal"
    if not open_ones:
        return proved
    worst = max(open_ones, key=lambda point: point.gap or 0.0)
    where = ", ".join(value_text(name, value) for name, value in worst.at.items())
    return f"{proved}; the largest gap of the others is {percent(worst.gap)}, at {where}"
