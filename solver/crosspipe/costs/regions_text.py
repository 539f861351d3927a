"""The known pairs of cloud regions as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.costs.regions import region_pairs
from crosspipe.errors import Fault, SpecError
from crosspipe.spec.faults import closest

if TYPE_CHECKING:
    from collections.abc import Sequence


def regions_text(part: str | None = None) -> str:
    """Write one line per pair with `part` in a name, or of all: names, latency, bandwidth, source.

    Raises
    ------
    SpecError
        If there is no such region.
    """
    shown = [pair for pair in region_pairs() if part is None or any(part.lower() in region for region in pair.between)]
    if not shown:
        names = [region for pair in region_pairs() for region in pair.between]
        raise SpecError([Fault("/regions", "a part of a known region's name", part, closest(part or "", names))])
    rows = [
        (
            *pair.between,
            f"{pair.latency_ms} ms {'round trip' if pair.round_trip else 'one way'}",
            "" if pair.bandwidth_gbps is None else f"{pair.bandwidth_gbps} Gb/s",
            pair.source,
        )
        for pair in shown
    ]
    return _columns(rows)


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"
