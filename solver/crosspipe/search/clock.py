"""The time of a solve: when it began, when it must end, whether someone asked it to stop."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """Counts from the moment it is made; `limit_s` is the promise made to the caller.

    Attributes
    ----------
    stopped
        Whether the caller has asked to stop.
    reserve_s
        Seconds before the limit that are kept for what follows the search.
    """

    def __init__(self, limit_s: float, should_stop: Callable[[], bool] | None = None) -> None:
        self._began = time.monotonic()
        self._limit_s = limit_s
        self._should_stop = should_stop
        self.stopped = False
        self.reserve_s = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the solve began."""
        return time.monotonic() - self._began

    @property
    def left_s(self) -> float:
        """Seconds until the limit, less the reserve, not below 0."""
        return max(0.0, self._limit_s - self.reserve_s - self.seconds)

    def asked_to_stop(self) -> bool:
        """Whether the caller has asked to stop and keep the best; stays true once true."""
        if not self.stopped and self._should_stop is not None:
            self.stopped = bool(self._should_stop())
        return self.stopped
