"""Numbers of a pool that look like the catalogue's in another unit."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.spec.notice import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.costs.pools import PlacedPool

GIB_PER_GB = Fraction(1000**3, 1024**3)
"""Size of a GB in GiB: numbers that differ by this ratio were read in the other unit."""

UNIT_TOLERANCE = Fraction(1, 200)
"""How close to that ratio two numbers must be to look like the same memory in two units."""

SPARSE_RATIO = (Fraction(19, 10), Fraction(21, 10))
"""A peak of about twice the catalogue's is the sparse figure of the data sheet."""


def card_notices(pools: Sequence[PlacedPool]) -> Iterator[Notice]:
    """Tell of memory in GiB, and of the sparse peak of an accelerator."""
    for placed in pools:
        card, pool = placed.accelerator, placed.pool
        if card is None:
            continue
        size = Fraction(pool.memory_gb or 0) / Fraction(card.memory_gb)
        if any(abs(size / other - 1) < UNIT_TOLERANCE for other in (GIB_PER_GB, 1 / GIB_PER_GB)):
            message = (
                f"{pool.memory_gb} GB is {float(size):.3f} times the {card.memory_gb} GB of {card.name}, the ratio of "
                "GiB and GB; memory_gb counts 10^9 bytes"
            )
            yield Notice("gb_or_gib", f"{placed.pointer}/memory_gb", message)
        ratio = Fraction(pool.tflops or 0) / Fraction(card.dense_bf16_tflops)
        if SPARSE_RATIO[0] <= ratio <= SPARSE_RATIO[1]:
            message = (
                f"{pool.tflops} TFLOP/s is twice the dense bf16 peak of {card.name}, {card.dense_bf16_tflops}; data "
                "sheets put the sparse peak first"
            )
            yield Notice("sparse_peak", f"{placed.pointer}/tflops", message)
