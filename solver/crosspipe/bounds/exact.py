"""Which integer type holds every sum of a problem exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]

LARGEST = 1 << 60
"""Sums up to this stay in 64 bits, with room for one more of the same size."""

NEVER = -(1 << 61)
"""Stands for "no path": below every time, and still so after adding any sum up to `LARGEST`."""


def exact(array: IntArray, total: int) -> NDArray[Any]:
    """Return `array` as 64-bit integers if `total` bounds every sum to be formed, as Python integers otherwise."""
    return array if total <= LARGEST else array.astype(object)


def total_of(array: IntArray) -> int:
    """Add up an array of non-negative integers without overflow."""
    largest = int(array.max(initial=0))
    if largest * len(array) < 1 << 62:
        return int(array.sum())
    return sum(array.tolist())
