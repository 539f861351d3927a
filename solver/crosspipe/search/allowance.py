"""How much work may follow the search: by the clock, or counted where runs must repeat exactly."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.search.clock import Clock
    from crosspipe.search.options import SolveOptions

FEWEST_S = 0.3
SHARE_SPENT = 0.15
SHARE_LEFT = 0.15
MOST_OF_LEFT_S = 2.0
MOST_S = 10.0
"""Second terms may take a moment, a share of the time spent, or a share of the time left up to a limit: the largest."""


def allowed_s(clock: Clock, options: SolveOptions, *, searched: bool) -> float:
    """Seconds that second terms may take; `searched` tells whether a search went before them."""
    left_s, spent_s = clock.left_s, clock.seconds
    if options.deterministic:
        # Not what was spent or is left, which no two runs have alike.
        return 0.0 if left_s == 0.0 else max(FEWEST_S, min(SHARE_SPENT * options.time_limit_s * searched, MOST_S))
    return min(left_s, MOST_S, max(FEWEST_S, SHARE_SPENT * spent_s, min(SHARE_LEFT * left_s, MOST_OF_LEFT_S)))


class Allowance:
    """Work for `most_s` seconds; where it is counted, for as much as a usual core does in them.

    A stop request ends it at once, and so does the time limit. `on_tick` is called whenever somebody asks whether it is
    over.
    """

    def __init__(
        self, clock: Clock, most_s: float, *, counted: bool = False, on_tick: Callable[[], None] | None = None
    ) -> None:
        self._clock, self._most_s, self._counted, self._on_tick = clock, most_s, counted, on_tick
        self._began, self._spent_s = time.monotonic(), 0.0

    def spend(self, usual_s: float) -> None:
        """Note work for which a usual core takes this long."""
        self._spent_s += usual_s

    @property
    def left_s(self) -> float:
        """Seconds left, of the clock or of counted work; 0 once it is over."""
        if self._clock.asked_to_stop():
            return 0.0
        spent_s = self._spent_s if self._counted else time.monotonic() - self._began
        return max(0.0, self._most_s - spent_s)

    def over(self) -> bool:
        """Whether the work must end."""
        if self._on_tick is not None:
            self._on_tick()
        return self.left_s == 0.0 or (self._counted and self._clock.left_s == 0.0)
