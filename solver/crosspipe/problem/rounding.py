"""Exact numbers to integers: computed as fractions, rounded once, half to even."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

NS_PER_MS = 10**6
BYTES_PER_MB = 10**6
BYTES_PER_GB = 10**9
BITS_PER_GB = 10**9
BITS_PER_BYTE = 8


def to_ns(ms: Decimal | Fraction) -> int:
    """Convert milliseconds to integer nanoseconds."""
    return round(Fraction(ms) * NS_PER_MS)


def to_bytes(mb: Decimal | Fraction) -> int:
    """Convert megabytes (10^6) to integer bytes."""
    return round(Fraction(mb) * BYTES_PER_MB)


def transfer_ms(size_mb: Fraction, bandwidth_gbps: Decimal) -> Fraction:
    """Time to push `size_mb` through `bandwidth_gbps`, in milliseconds, exactly."""
    bits = size_mb * BYTES_PER_MB * BITS_PER_BYTE
    return bits * 1000 / (Fraction(bandwidth_gbps) * BITS_PER_GB)
