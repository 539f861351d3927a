"""Integers (nanoseconds, bytes) as the plain numbers of a spec, exactly, and back."""

from __future__ import annotations

from decimal import Decimal

NS_PER_MS = 10**6
NS_PER_US = 10**3
BYTES_PER_MB = 10**6
BYTES_PER_GB = 10**9

Number = int | float


def ms(time_ns: int) -> Number:
    """Write a time in milliseconds."""
    return _exactly(time_ns, NS_PER_MS)


def mb(size_bytes: int) -> Number:
    """Write a size in megabytes."""
    return _exactly(size_bytes, BYTES_PER_MB)


def gb(size_bytes: int) -> Number:
    """Write a size in gigabytes."""
    return _exactly(size_bytes, BYTES_PER_GB)


def ns(time_ms: float | None) -> int | None:
    """Read a time of an answer, an exact decimal of integer nanoseconds."""
    return None if time_ms is None else int(Decimal(repr(time_ms)) * NS_PER_MS)


def _exactly(amount: int, unit: int) -> Number:
    exact = Decimal(amount) / unit
    written = int(exact) if exact == exact.to_integral_value() else float(exact)
    if Decimal(repr(written)) != exact:
        raise ValueError(f"{amount} / {unit} has more digits than a plain number holds")
    return written
