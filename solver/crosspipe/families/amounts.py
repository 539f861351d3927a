"""Amounts in words."""

from __future__ import annotations

from decimal import Decimal


def megabytes(amount_bytes: int) -> str:
    """Write bytes as megabytes (10^6), exactly."""
    return f"{Decimal(amount_bytes).scaleb(-6).normalize():f}"


def milliseconds(time_ns: int) -> str:
    """Write nanoseconds as milliseconds, exactly."""
    return f"{Decimal(time_ns).scaleb(-6).normalize():f}"
