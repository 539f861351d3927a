"""The frontier of the two-site example: step time by memory and latency, from `docs.generate.measure_frontier`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.generate.benchmark_cells import NOT_MEASURED
from docs.generate.markdown import table

from crosspipe.export.svg import Caption
from crosspipe.sweeps.axes import value_text
from crosspipe.sweeps.chart import sweep_svg
from crosspipe.sweeps.models import Sweep

if TYPE_CHECKING:
    from crosspipe.sweeps.models import SweepPoint

IMAGES = Path(__file__).resolve().parents[1] / "images"
MEASURED = IMAGES / "frontier.json"
PICTURE = IMAGES / "frontier.svg"

FORWARD_MS = 18.522
"""F of the example, the unit of its latencies."""

TITLE = "What memory buys: step time by memory and latency"


def frontier_part(source: Path = MEASURED) -> str:
    """Embed the picture, list every point, and say how much memory buys each latency back."""
    if not source.exists():
        return NOT_MEASURED
    measured = json.loads(source.read_text(encoding="utf-8"))
    found = Sweep.model_validate(measured["sweep"])
    memory, latency = found.axes
    points = {(point.at[memory.name], point.at[latency.name]): point for point in found.points}
    columns = ("memory per device", *(_in_forwards(value) for value in latency.values))
    rows = [
        (f"{value_text(memory.name, size)[:-1]} x 32 GB", *(_cell(points[size, delay]) for delay in latency.values))
        for size in memory.values
    ]
    limits = max(point.time_limit_s for point in found.points)
    proved = sum(point.status == "optimal" for point in found.points)
    worst = max(point.gap or 0.0 for point in found.points)
    rest = f", the largest gap of the others is {100 * worst:.2f} %" if proved < len(points) else ""
    how = (
        f"ms per step by memory and one-way latency, F = {FORWARD_MS} ms. {proved} of {len(points)} points are proved "
        f"optimal (*){rest}; at most {limits:g} s a point, {measured['workers']} cores, version {measured['version']}."
    )
    bought = [reading.sentence for reading in found.readings if reading.kind == "memory_buys_latency"]
    sentences = "\n".join(f"- {sentence[0].upper()}{sentence[1:]}" for sentence in bought)
    return f"![{TITLE}](../images/{PICTURE.name})\n\n{table(columns, rows)}\n\n{how}\n\n{sentences}"


def picture(source: Path = MEASURED) -> str | None:
    """Draw a line per latency; None where nothing is measured."""
    if not source.exists():
        return None
    found = Sweep.model_validate(json.loads(source.read_text(encoding="utf-8"))["sweep"])
    multiples = ", ".join(f"{float(value) / FORWARD_MS:g}" for value in found.axes[1].values if _is_number(value))
    lines = (
        f"1.5B on two sites; a line for each one-way latency: {multiples} F, F = {FORWARD_MS} ms",
        "filled points are proved optimal, bands reach down to what is proved",
    )
    return sweep_svg(found, Caption(TITLE, lines))


def _in_forwards(value: Any) -> str:
    return f"{float(value) / FORWARD_MS:g} F" if _is_number(value) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _cell(point: SweepPoint) -> str:
    if point.value_ms is None:
        return point.status
    return f"{point.value_ms:,.1f}" + (" *" if point.status == "optimal" else "")
