"""The step of time: what every moment of a schedule is a multiple of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def step_ns(problem: Problem) -> int:
    """Nanoseconds of which all times are multiples in a schedule that starts everything as early as its orders allow.

    Every start is then a sum of durations, lags, and edges and periods of closed windows. Where a lane is merely slower
    at times, transfers end at any nanosecond, and the step is 1.
    """
    windows = [window for lane in problem.lanes for window in lane.windows]
    if any(window.rate_bps for window in windows):
        return 1
    edges = (edge for w in windows for edge in (w.start_ns, w.end_ns, w.period_ns) if edge is not None)
    durations, lags = problem.operations.duration_ns, problem.precedences.lag_ns
    return math.gcd(int(np.gcd.reduce(durations, initial=0)), int(np.gcd.reduce(lags, initial=0)), *edges) or 1
