"""The time axis: from nanoseconds to px, and where its ticks stand."""

from __future__ import annotations

from dataclasses import dataclass

from crosspipe.export.svg.numbers import NS_PER_MS


@dataclass(frozen=True, slots=True)
class Scale:
    """Linear map of `[0, horizon_ns]` to `[left, left + width]` px."""

    left: float
    width: float
    horizon_ns: int

    @property
    def right(self) -> float:
        """Where the horizon stands, in px."""
        return self.left + self.width

    def x(self, time_ns: int) -> float:
        """Return the place of a moment in px, kept within the axis."""
        return self.left + self.width * min(max(time_ns / self.horizon_ns, 0.0), 1.0)


def ticks(horizon_ns: int, most: int = 10) -> list[int]:
    """Return at most `most` round moments from 0 to the horizon in ns: steps of 1, 2 or 5 times a power of ten."""
    step = 1
    while horizon_ns // step >= most:
        leading = int(str(step)[0])
        step = step * 5 // 2 if leading == 2 else step * 2
    return list(range(0, horizon_ns + 1, step))


def tick_label(time_ns: int, step_ns: int) -> str:
    """Write a tick in ms with as many decimals as its step needs."""
    decimals = 0
    while decimals < 6 and step_ns * 10**decimals % NS_PER_MS:
        decimals += 1
    return f"{time_ns / NS_PER_MS:,.{decimals}f}"
