"""Bytes of weights, gradients, optimizer state and activations in each training precision.

`bf16` and `fp16` keep bf16 or fp16 weights, activations and messages, fp32 gradients, an fp32 master weight and two
fp32 Adam moments. `fp8` runs the matrix products of the layers in fp8 and all else as `bf16` does: attention, head,
what is kept and what is sent stay as they are (the default of Transformer Engine). `fp32` keeps everything in fp32, and
the weight is its own master.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from crosspipe.spec.model import Precision


@dataclass(frozen=True, slots=True)
class Format:
    """Bytes of one value.

    Attributes
    ----------
    value
        Of an activation, a message, a weight as it is gathered and a gradient as it is sent.
    weight, gradient
        Per parameter, of the weight in use and of the gradient that sums up over the microbatches.
    optimizer
        Per parameter: Adam's two fp32 moments and, where the weight in use is not fp32, its fp32 master.
    """

    value: int
    weight: int
    gradient: int
    optimizer: int


_HALF: Final = Format(value=2, weight=2, gradient=4, optimizer=12)
_SINGLE: Final = Format(value=4, weight=4, gradient=4, optimizer=8)

FORMATS: Final[dict[Precision, Format]] = {"bf16": _HALF, "fp16": _HALF, "fp8": _HALF, "fp32": _SINGLE}
"""The formats by the word in `training.precision`."""
