"""The lower half of the picture: memory held by each device over the same time axis, against its limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.export.memory_curve import Curve, memory_curve
from crosspipe.export.svg.marks import rect, words
from crosspipe.export.svg.numbers import px, shorten
from crosspipe.export.svg.palette import IDLE, INK, LIMIT, MEMORY, SOFT_INK

if TYPE_CHECKING:
    from crosspipe.export.svg.scale import Scale
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

LIMIT_IN_SIGHT = 1.6
"""A limit up to so many times the highest peak sets the scale; a higher one is told in words only."""

HEADROOM = 1.06
"""Room above the highest curve or limit."""


@dataclass(frozen=True, slots=True)
class Meter:
    """Memory of one device: name, curve in bytes, limit in bytes or None."""

    name: str
    curve: Curve
    limit: int | None


def meters(problem: Problem, schedule: Schedule) -> list[Meter]:
    """Return the memory of every device that holds any; empty where memory is not modelled."""
    found = []
    for index, pool in enumerate(problem.pools):
        if pool.unit == "bytes":
            device = problem.devices[pool.device]
            name = device.name if problem.replicas == 1 else f"{device.name} · replica {device.replica}"
            found.append(Meter(name, memory_curve(problem, schedule, index), pool.capacity))
    return found if any(meter.curve.peak > 0 for meter in found) else []


def meter_height(count: int) -> float:
    """Return the height of one meter in px."""
    return 34.0 if count <= 8 else 26.0 if count <= 16 else 16.0 if count <= 48 else 9.0


def draw_meters(found: list[Meter], scale: Scale, top: float, column_px: float | None) -> list[str]:
    """Draw all meters on one common scale."""
    height, gap = meter_height(len(found)), 6.0 if len(found) <= 16 else 3.0
    full = _full_scale(found)
    divisor, unit = _unit(full)
    lines = []
    for place, meter in enumerate(found):
        y = top + place * (height + gap)
        lines += _draw(meter, scale, y, height, full, column_px)
        size = min(height * 0.8, 11.5)
        lines.append(words(scale.left - 10, y + height / 2 + 4, shorten(meter.name, 122, size), size, INK, "end"))
        told = f"{meter.curve.peak / divisor:.1f}"
        told += f" {unit}" if meter.limit is None else f" / {meter.limit / divisor:.1f} {unit}"
        lines.append(words(scale.right + 12, y + height / 2 + 4, told, min(size, 10.5), SOFT_INK))
    return lines


def limit_in_sight(found: list[Meter]) -> bool:
    """Whether any limit is low enough to be drawn."""
    return any(meter.limit is not None and meter.limit <= _full_scale(found) for meter in found)


def meters_height(count: int) -> float:
    """Return the height of all meters in px."""
    return count * (meter_height(count) + (6.0 if count <= 16 else 3.0))


def _full_scale(found: list[Meter]) -> float:
    """Return the bytes at the top of each meter."""
    peak = max(meter.curve.peak for meter in found)
    limits = [meter.limit for meter in found if meter.limit is not None and meter.limit <= LIMIT_IN_SIGHT * peak]
    return HEADROOM * max([peak, *limits])


def _unit(amount: float) -> tuple[float, str]:
    """Choose a decimal unit in which the amount reads well."""
    for divisor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if amount >= divisor:
            return divisor, unit
    return 1.0, "B"


def _draw(meter: Meter, scale: Scale, y: float, height: float, full: float, column_px: float | None) -> list[str]:
    """Draw one meter: ground, curve, limit, and a dot where the peak is first reached."""
    times, levels = _points(meter.curve, scale, column_px)
    bottom = y + height
    steps, drawn = [], None
    for time, level in zip(times, levels, strict=True):
        place = px(bottom - height * level / full)
        if place != drawn:
            steps.append(f"V{place}" if drawn is None else f"H{px(scale.x(time))}V{place}")
            drawn = place
    curve = "".join(steps) + f"H{px(scale.right)}"
    start = f"M{px(scale.left)} {px(bottom)}"
    lines = [
        rect(scale.left, y, scale.width, height, IDLE),
        f'<path d="{start}{curve}V{px(bottom)}z" fill="{MEMORY}" fill-opacity=".3"/>',
        f'<path d="{start}{curve}" fill="none" stroke="{MEMORY}" stroke-width="1.1"/>',
    ]
    if meter.limit is not None and meter.limit <= full:
        at = px(bottom - height * meter.limit / full)
        path = f"M{px(scale.left)} {at}H{px(scale.right)}"
        lines.append(f'<path d="{path}" stroke="{LIMIT}" stroke-width="1.1" stroke-dasharray="5 3"/>')
    if height >= 16:
        when = int(meter.curve.time_ns[int(meter.curve.level.argmax())])
        dot = bottom - height * meter.curve.peak / full
        lines.append(f'<circle cx="{px(scale.x(when))}" cy="{px(dot)}" r="2.2" fill="{MEMORY}"/>')
    return lines


def _points(curve: Curve, scale: Scale, column_px: float | None) -> tuple[list[int], list[int]]:
    """Return the steps to draw; with columns, the highest level of each, so that no peak is lost."""
    if column_px is None:
        return curve.time_ns.tolist(), curve.level.tolist()
    columns = max(int(scale.width / column_px), 1)
    edges = (np.arange(columns) * (scale.horizon_ns / columns)).astype(np.int64)
    highest = curve.level[np.searchsorted(curve.time_ns, edges, side="right") - 1].copy()
    slot = np.clip(np.searchsorted(edges, curve.time_ns, side="right") - 1, 0, columns - 1)
    np.maximum.at(highest, slot, curve.level)
    return edges.tolist(), highest.tolist()
