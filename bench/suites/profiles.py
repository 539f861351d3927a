"""The twelve profiles of the Zero Bubble paper (arXiv 2401.10241, tables 5 and 6), and their memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.data import read_json
from bench.pipelines import Work
from bench.quantities import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Mapping

SHAPES = {"1.5B": (2304, 24, 6), "6.2B": (4096, 32, 3), "14.6B": (5120, 40, 1), "28.3B": (6144, 48, 1)}
"""Hidden size, heads and sequences per microbatch of each model."""

SEQUENCE = 1024


@dataclass(frozen=True, slots=True)
class Profile:
    """Measured times of one model on `devices` devices; rates are the paper's, of the largest span."""

    model: str
    devices: int
    microbatches: int
    work: Work
    latency_ns: int
    rates: Mapping[str, float]

    @property
    def name(self) -> str:
        """Name the profile."""
        return f"{self.model} {self.devices}x{self.microbatches}"

    def slowest_span_ns(self, schedule: str) -> int:
        """Give the longest span whose bubble rate, rounded to four digits as published, is that of a schedule."""
        work_ns = self.microbatches * self.work.total_ns
        rate = self.rates[schedule]
        span_ns = int(work_ns / (1 - rate - 0.00006))
        while round((span_ns - work_ns) / span_ns, 4) > rate:
            span_ns -= NS_PER_US // 10
        return span_ns


def layer_bytes(model: str) -> tuple[int, int]:
    """Memory of one layer and microbatch: held from F on, and kept from B to W (paper, section 2.3)."""
    hidden, heads, sequences = SHAPES[model]
    tokens = SEQUENCE * sequences
    return tokens * (34 * hidden + 5 * heads * SEQUENCE), tokens * 32 * hidden


def profiles() -> list[Profile]:
    """Read the twelve profiles."""
    return [
        Profile(
            model=row["model"],
            devices=row["p"],
            microbatches=row["m"],
            work=Work(row["F"] * NS_PER_US, row["B"] * NS_PER_US, row["W"] * NS_PER_US, *layer_bytes(row["model"])),
            latency_ns=row["hop"] * NS_PER_US,
            rates=row["rates"],
        )
        for row in read_json("bench/zero_bubble.json")["rows"]
    ]
