"""What a contender tells while it runs, and the times read from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class State:
    """Best value and bound at a moment, None while unknown."""

    seconds: float
    value_ns: int | None
    bound_ns: int | None
    source: str

    @property
    def gap(self) -> float | None:
        """(value - bound) / value."""
        if self.value_ns is None or self.bound_ns is None:
            return None
        return max(0.0, (self.value_ns - self.bound_ns) / self.value_ns) if self.value_ns else 0.0


def running_best(states: Iterable[State]) -> list[State]:
    """Order states by time and keep those that better the value or the bound, with the best of both so far."""
    best: list[State] = []
    value: int | None = None
    bound: int | None = None
    for state in sorted(states, key=lambda state: state.seconds):
        values = [known for known in (value, state.value_ns) if known is not None]
        bounds = [known for known in (bound, state.bound_ns) if known is not None]
        news = (min(values, default=None), max(bounds, default=None))
        if news != (value, bound):
            value, bound = news
            best.append(State(state.seconds, value, bound, state.source))
    return best


def first_s(history: Sequence[State]) -> float | None:
    """Time of the first schedule."""
    return _when(history, lambda state: state.value_ns is not None)


def reached_s(history: Sequence[State], value_ns: int) -> float | None:
    """Time of the first schedule at least as good as a value."""
    return _when(history, lambda state: state.value_ns is not None and state.value_ns <= value_ns)


def within_s(history: Sequence[State], gap: float) -> float | None:
    """Time from which the gap is at most `gap`."""
    return _when(history, lambda state: state.gap is not None and state.gap <= gap)


def _when(history: Sequence[State], holds: Callable[[State], bool]) -> float | None:
    return next((state.seconds for state in history if holds(state)), None)
