"""Channels: what the links of one group share, and how long a message takes on a lane."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.problem.rounding import transfer_ms

if TYPE_CHECKING:
    from decimal import Decimal

    from crosspipe.problem.problem import Window


@dataclass(slots=True)
class Channel:
    """What the links of one group have in common, gathered while links are read.

    Windows are kept by direction (`out`, `back`; `out` alone if half duplex), those anchored to the clock apart.
    """

    name: str
    half: bool
    per_replica: bool
    rate_bps: int = 1
    windows: dict[str, list[Window]] = field(default_factory=dict)
    clock_windows: dict[str, list[Window]] = field(default_factory=dict)

    def lane_name(self, direction: str) -> str:
        """Name the lane of a direction."""
        return self.name if self.half else f"{self.name}/{direction}"


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a message of a given size takes on the lane: by bandwidth, per message, by table, or no time at all."""

    bandwidth_gbps: Decimal | None = None
    per_message_ms: Decimal | None = None
    table: tuple[tuple[Decimal, Decimal], ...] | None = None

    def transfer_ms(self, size_mb: Decimal | Fraction, copies: int) -> Fraction:
        """Time for `copies` messages of `size_mb` sent as one, in milliseconds, exactly."""
        if self.bandwidth_gbps is not None:
            return transfer_ms(Fraction(size_mb) * copies, self.bandwidth_gbps)
        if self.per_message_ms is not None:
            return Fraction(self.per_message_ms) * copies
        if self.table is not None:
            return by_table(self.table, Fraction(size_mb) * copies)
        return Fraction(0)


def by_table(table: tuple[tuple[Decimal, Decimal], ...], size_mb: Fraction) -> Fraction:
    """Interpolate a measured table of (MB, ms) linearly; below it the first time holds, above it the last slope.

    A table of one point is scaled by size above that point.
    """
    points = [(Fraction(size), Fraction(time)) for size, time in table]
    if size_mb <= points[0][0]:
        return points[0][1]
    if len(points) == 1:
        return points[0][1] * size_mb / points[0][0] if points[0][0] else points[0][1]
    left, right = next(
        ((a, b) for a, b in pairwise(points) if size_mb <= b[0]),
        (points[-2], points[-1]),
    )
    return left[1] + (right[1] - left[1]) * (size_mb - left[0]) / (right[0] - left[0])


@dataclass(frozen=True, slots=True)
class Passage:
    """From one place to another over one lane of a channel."""

    channel: Channel
    direction: str
    latency_ms: Fraction
    timing: Timing
