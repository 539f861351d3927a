"""Amounts in words."""

from __future__ import annotations


def megabytes(amount_bytes: int) -> str:
    """Write bytes as megabytes (10^6), to the byte where it is not a whole number of them."""
    return f"{amount_bytes / 1e6:.6f}".rstrip("0").rstrip(".")
