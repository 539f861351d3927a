"""Memory of whole layers cut into what is held all the time and what every microbatch takes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ZERO = Decimal(0)
TENTH_MB = Decimal("0.1")
STATES = 9
"""Bytes of weight, gradient and Adam per byte of a 16-bit weight: 18 per parameter."""


def memory_rows(
    memory_mb: Sequence[Decimal],
    weights_bytes: Sequence[Decimal],
    tensor: int,
    batch: int,
    other: tuple[int, Sequence[Decimal]] | None,
) -> tuple[list[dict[str, Decimal]], tuple[str, ...]]:
    """Cut the memory of each layer.

    With a second batch size, what grows with the batch is the activation. With one alone, what the parameters take
    (18 bytes each, shared out over the tensor group) is held all the time, and the rest is the activation.

    Returns
    -------
    tuple
        `static_mb` and `activation_mb` of each layer, and what was assumed.
    """
    if other is not None:
        second, theirs = other
        pairs = zip(memory_mb, theirs, strict=True)
        taken = [max(ZERO, (b - a) / (second - batch) * batch) for a, b in pairs]
        told = f"activation_mb is what memory grows by from batch {batch} to {second}; static_mb is the rest"
    elif weights_bytes:
        pairs = zip(memory_mb, weights_bytes, strict=True)
        taken = [max(ZERO, whole - STATES * weights / tensor / 10**6) for whole, weights in pairs]
        shared = "" if tensor == 1 else f" / tensor {tensor}"
        told = f"static_mb is 9 x the parameters' bytes{shared}, as of bf16 with Adam; activation_mb is the rest"
    else:
        taken = list(memory_mb)
        told = "activation_mb is all of a layer's memory, as neither another batch nor parameters tell it apart"
    found = []
    for whole, part in zip(memory_mb, taken, strict=True):
        activation = min(whole, part).quantize(TENTH_MB)
        found.append({"activation_mb": activation, "static_mb": max(ZERO, whole - activation)})
    assumed = [told]
    if any(not part for part in taken):
        assumed.append("activation_mb is 0 where nothing is left for it")
    return found, tuple(assumed)
