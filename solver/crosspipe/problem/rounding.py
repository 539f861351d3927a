"""Exact numbers to integers: computed as fractions, rounded once, half to even."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.errors import Fault, TooLargeError

if TYPE_CHECKING:
    from decimal import Decimal

NS_PER_MS = 10**6
BYTES_PER_MB = 10**6
BYTES_PER_GB = 10**9
BITS_PER_GB = 10**9
BITS_PER_BYTE = 8

LARGEST = 2**60
"""Largest time in nanoseconds (36 years), also of all durations and lags together, and largest amount in bytes."""


def to_ns(ms: Decimal | Fraction) -> int:
    """Convert milliseconds to integer nanoseconds; raises `TooLargeError` above `LARGEST`."""
    return within(round(Fraction(ms) * NS_PER_MS), NS_PER_MS, "ms")


def to_bytes(mb: Decimal | Fraction) -> int:
    """Convert megabytes (10^6) to integer bytes; raises `TooLargeError` above `LARGEST`."""
    return within(round(Fraction(mb) * BYTES_PER_MB), BYTES_PER_MB, "MB")


def within(value: int, per_unit: int, unit: str) -> int:
    """Return a value that is small enough.

    Raises
    ------
    TooLargeError
        If it exceeds `LARGEST`: its sums would leave 64 bits.
    """
    if value <= LARGEST:
        return value
    rule = f"no time or amount, factors and multipliers counted in, may exceed {LARGEST // per_unit} {unit}"
    raise TooLargeError([Fault("/model", rule, f"{value // per_unit} {unit}")])


def transfer_ms(size_mb: Fraction, bandwidth_gbps: Decimal) -> Fraction:
    """Time to push `size_mb` through `bandwidth_gbps`, in milliseconds, exactly."""
    bits = size_mb * BYTES_PER_MB * BITS_PER_BYTE
    return bits * 1000 / (Fraction(bandwidth_gbps) * BITS_PER_GB)
