"""News of a sweep while it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """State of a sweep at a moment.

    Attributes
    ----------
    number, count
        Which point is being solved, from 1, and how many there are.
    where
        Its values, in words.
    value_ms, bound_ms, gap
        What is known of it; None while unknown.
    left_s
        Seconds that the rest will take if it goes on like this; None before the first point.
    done
        Whether the point is done.
    """

    number: int
    count: int
    where: str
    value_ms: float | None
    bound_ms: float | None
    gap: float | None
    left_s: float | None
    done: bool
