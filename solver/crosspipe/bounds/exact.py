"""Which integer type holds every sum of a problem exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]

LARGEST = 1 << 60
"""Sums up to this stay in 64 bits, with room for one more of the same size."""


def exact(array: IntArray, total: int) -> NDArray[Any]:
    """Return `array` as 64-bit integers if `total` bounds every sum to be formed, as Python integers otherwise."""
    return array if total <= LARGEST else array.astype(object)


def never_like(array: NDArray[Any]) -> int:
    """Stand for "no path" among such times: below every time, and still so after adding any sum of them."""
    return -(1 << 200) if array.dtype == object else -(LARGEST << 1)


def total_of(array: IntArray) -> int:
    """Add up an array of non-negative integers without overflow."""
    largest = int(array.max(initial=0))
    if largest * len(array) < 1 << 62:
        return int(array.sum())
    return sum(array.tolist())
