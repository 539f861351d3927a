"""What a solve tells while it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a solve at a moment; sent at each change and at least every second.

    Attributes
    ----------
    seconds
        Since the solve began.
    value_ns, bound_ns
        Best value and proven lower bound, None while unknown.
    source
        What the news came from: a family, `greedy`, a bound, `cp-sat`, or `clock`.
    """

    seconds: float
    value_ns: int | None
    bound_ns: int | None
    source: str

    @property
    def gap(self) -> float | None:
        """(value - bound) / value, None while either is unknown."""
        return relative_gap(self.value_ns, self.bound_ns)


def relative_gap(value_ns: int | None, bound_ns: int | None) -> float | None:
    """(value - bound) / value; None where either is unknown, 0 where the value is 0."""
    if value_ns is None or bound_ns is None:
        return None
    return max(0.0, (value_ns - bound_ns) / value_ns) if value_ns else 0.0
