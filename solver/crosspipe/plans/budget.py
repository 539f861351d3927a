"""The time of a plan, shared out over its solves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SHORTEST_S = 0.5
"""A search shorter than this finds nothing that the construction has not found: then there is none."""


class Budget:
    """Counts from the moment it is made."""

    def __init__(self, limit_s: float, should_stop: Callable[[], bool] | None = None) -> None:
        self._began = time.monotonic()
        self._limit_s = limit_s
        self._should_stop = should_stop
        self.stopped = False

    @property
    def seconds(self) -> float:
        """Seconds since the plan began."""
        return time.monotonic() - self._began

    @property
    def left_s(self) -> float:
        """Seconds until the limit, not below 0."""
        return max(0.0, self._limit_s - self.seconds)

    def is_over(self) -> bool:
        """Whether nothing more may begin: the time is over (if there is to be any at all), or someone asked to stop."""
        return self.asked_to_stop() or (self._limit_s > 0 and self.left_s == 0)

    def asked_to_stop(self) -> bool:
        """Whether the caller has asked to stop; stays true once true."""
        if not self.stopped and self._should_stop is not None:
            self.stopped = bool(self._should_stop())
        return self.stopped

    def share_s(self, among: int, of: float = 1.0) -> float:
        """Give one of several solves its share of a part of what is left; 0 where that is too short for a search."""
        share = of * self.left_s / max(1, among)
        return share if share >= SHORTEST_S else 0.0


__all__ = ["SHORTEST_S", "Budget"]
