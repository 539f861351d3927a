"""`Peak`: what an accelerator computes at most in the precision of the training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

    from crosspipe.costs.catalogue import Accelerator
    from crosspipe.spec.model import Precision


@dataclass(frozen=True, slots=True)
class Peak:
    """Dense peak of one accelerator.

    Attributes
    ----------
    tflops
        Of matrix products of the layers, 10^12 operations per second.
    source
        Where it was read.
    attention_tflops
        Of attention and head, where they run in another precision (`fp8`); None for the same.
    """

    tflops: Decimal
    source: str
    attention_tflops: Decimal | None = None


def peak_of(card: Accelerator, precision: Precision) -> Peak | None:
    """Look the peak of a catalogue entry up, None where the catalogue does not know it in that precision."""
    source = f"{card.name}: {card.source}"
    if precision == "fp8":
        if card.dense_fp8_tflops is None:
            return None
        return Peak(card.dense_fp8_tflops, source, card.dense_bf16_tflops)
    tflops = card.fp32_tflops if precision == "fp32" else card.dense_bf16_tflops
    return None if tflops is None else Peak(tflops, source)
