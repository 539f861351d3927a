"""Channels: what the links of one group share, and how long a message takes on a lane."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.problem.rounding import transfer_ms
from crosspipe.spec.transfer_table import by_table

if TYPE_CHECKING:
    from decimal import Decimal

    from crosspipe.problem.links import Window


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
    """How long a message of a given size takes on the lane: by table, per message, by bandwidth, or no time at all.

    What was measured counts where a bandwidth stands beside it.
    """

    bandwidth_gbps: Decimal | None = None
    per_message_ms: Decimal | None = None
    table: tuple[tuple[Decimal, Decimal], ...] | None = None

    def transfer_ms(self, size_mb: Decimal | Fraction, copies: int) -> Fraction:
        """Time for `copies` messages of `size_mb` sent as one, in milliseconds, exactly."""
        if self.per_message_ms is not None:
            return Fraction(self.per_message_ms) * copies
        return self.bulk_ms(Fraction(size_mb) * copies)

    def bulk_ms(self, size_mb: Decimal | Fraction) -> Fraction:
        """Time for what is no message between stages, and as large as it likes; a time per message says nothing of it.

        Only where nothing else is known does it take as long as a message.
        """
        if self.table is not None:
            return by_table(self.table, Fraction(size_mb))
        if self.bandwidth_gbps is not None:
            return transfer_ms(Fraction(size_mb), self.bandwidth_gbps)
        return Fraction(self.per_message_ms or 0)


@dataclass(frozen=True, slots=True)
class Passage:
    """From one place to another over one lane of a channel."""

    channel: Channel
    direction: str
    latency_ms: Fraction
    timing: Timing
