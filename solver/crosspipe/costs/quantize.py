"""Exact fractions as the decimals of an estimate: digits beyond a microsecond and 0.1 MB would be noise."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

MS_DIGITS = 3
"""Decimals of an estimated duration in milliseconds."""

MB_DIGITS = 1
"""Decimals of an estimated size in megabytes."""

FACTOR_DIGITS = 6
"""Decimals of a ratio of two accelerators' peaks."""


def decimal_of(value: Fraction | int, digits: int) -> Decimal:
    """Round half to even to `digits` decimals."""
    return Decimal(round(Fraction(value) * 10**digits)).scaleb(-digits)


def estimated_ms(value: Fraction) -> Decimal:
    """Round an estimated duration; work above zero stays above zero."""
    return max(decimal_of(value, MS_DIGITS), Decimal(1).scaleb(-MS_DIGITS))


def estimated_mb(size_bytes: Fraction | int) -> Decimal:
    """Round an estimated size given in bytes to megabytes."""
    return decimal_of(Fraction(size_bytes) / 10**6, MB_DIGITS)
