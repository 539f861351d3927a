"""What a link's measured table of sizes and times says of any size."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal


def by_table(table: Sequence[tuple[Decimal, Decimal]], size_mb: Fraction) -> Fraction:
    """Interpolate a measured table of (MB, ms) linearly; below it the first time holds, above it the last slope.

    A table of one point is scaled by size above that point.
    """
    points = [(Fraction(size), Fraction(time)) for size, time in table]
    if size_mb <= points[0][0]:
        return points[0][1]
    if len(points) == 1:
        return points[0][1] * size_mb / points[0][0] if points[0][0] else points[0][1]
    left, right = next(
        ((a, b) for a, b in pairwise(points) if size_mb <= b[0]),
        (points[-2], points[-1]),
    )
    return left[1] + (right[1] - left[1]) * (size_mb - left[0]) / (right[0] - left[0])
