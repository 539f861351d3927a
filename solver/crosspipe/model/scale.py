"""Ticks: nanoseconds and bytes brought down to numbers small enough for CP-SAT, without losing a valid bound.

CP-SAT 9.15 has answered a wrong INFEASIBLE at times around 10^10, and refuses models whose products overflow 64 bits.
So time is divided by the greatest common divisor of everything that can decide a start, and where the horizon is still
above `LARGEST_HORIZON`, by more than that (coarser), rounding everything down.

Why the bound stays valid. Let f be nanoseconds per tick, and take any schedule with starts s, durations d, ends
e >= s + d. Give operation i the start `floor(s_i / f)` and the duration `floor(d_i / f)`. As
`floor(x) + floor(y) <= floor(x + y)`, its end is at most `floor(e_i / f)`. Hence precedences hold with lags rounded
down, what did not overlap does not overlap (so holdings that all meet in the image, meeting pairwise before, met at one
moment), ends are at most `floor(due / f)`, and a transfer outside `[a, b)` stays outside
`[floor(a / f), floor(b / f))`. So every schedule has an image, and the optimum in ticks bounds the optimum:

* makespan: the image's makespan is at most `floor(makespan / f)`, so `makespan >= f * bound`;
* span: `floor(e / f) - floor(s / f) <= floor((e - s) / f) + 1`, so `span >= f * (bound - 1) + 1`.

When the scaling is exact. If f divides every duration, lag, window edge, period and deadline, a left-shifted schedule
(each start is a sum of such numbers) is its own image, so the optimal makespan is exactly `f * optimum`. For the span a
cycle of constraints may pass k devices and then fixes `k * span`, with `k <= number of devices`; the span is exact in
ticks of `f / lcm(1..devices)`, which is why a scale has a numerator too. One tick = one nanosecond is always exact;
nothing else is where a lane is slower at times.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import NO_DEADLINE
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem

LARGEST_HORIZON = 500_000_000
"""Most ticks a schedule may last; half of the smallest factor at which a wrong answer of CP-SAT was seen."""

LARGEST_EXACT_HORIZON = 2**40
"""Most ticks of a model whose answer counts only if a differently presolved solve agrees."""


@dataclass(frozen=True, slots=True)
class Scale:
    """`ticks = nanoseconds * ticks_per // ns_per`.

    Attributes
    ----------
    ns_per, ticks_per
        `ns_per` nanoseconds are `ticks_per` ticks.
    exact
        True if the optimum in ticks is the optimum.
    """

    ns_per: int
    ticks_per: int
    exact: bool

    def ticks(self, ns: int) -> int:
        """Round a time down to whole ticks."""
        return ns * self.ticks_per // self.ns_per

    def ticks_of(self, ns: IntArray) -> IntArray:
        """Round an array of times down to whole ticks."""
        if self.ticks_per == 1:
            return ns // self.ns_per
        return np.array([self.ticks(int(value)) for value in ns], dtype=np.int64)

    def bound_ns(self, ticks: int, objective: Objective) -> int:
        """Turn a lower bound in ticks into one in nanoseconds (see the module's proof)."""
        if objective is Objective.SPAN and not self.exact:
            return max((ticks - 1) * self.ns_per // self.ticks_per + 1, 0)
        if objective is Objective.MAKESPAN and self.exact:
            return -(-ticks // self.ticks_per) * self.ns_per
        return -(-ticks * self.ns_per // self.ticks_per)

    def ceiling(self, value_ns: int, objective: Objective) -> int:
        """Largest objective in ticks that the image of a schedule of this value can have."""
        return self.ticks(value_ns) + (1 if objective is Objective.SPAN else 0)


def choose_scale(problem: Problem, horizon_ns: int, objective: Objective, largest: int = LARGEST_HORIZON) -> Scale:
    """Choose the finest scale whose horizon CP-SAT can be trusted with, preferring small numbers.

    Parameters
    ----------
    problem
        The problem.
    horizon_ns
        Latest end of any operation that the model will allow, nanoseconds.
    objective
        What is minimised; the span needs fractions of the common divisor (see the module).
    largest
        Most ticks the horizon may have.
    """
    common = common_divisor(problem)
    parts = lcm(*range(1, len(problem.devices) + 1)) if objective is Objective.SPAN else 1
    if parts >= common:
        common, parts = 1, 1
    parts *= _halving(problem, common, parts)
    if horizon_ns * parts // common <= largest:
        return Scale(common, parts, exact=common == 1 or not _slower(problem))
    if horizon_ns <= largest:
        return Scale(1, 1, exact=True)
    common = common_divisor(problem)
    factor = max(1, -(-horizon_ns // (common * largest)))
    own_images = factor == 1 and not _slower(problem)
    return Scale(common * factor, 1, exact=own_images and (objective is Objective.MAKESPAN or common == 1))


def _slower(problem: Problem) -> bool:
    """Whether a lane is merely slower at times: then transfers end at any nanosecond."""
    return any(window.rate_bps for lane in problem.lanes for window in lane.windows)


def _halving(problem: Problem, common: int, parts: int) -> int:
    """Give 2 if some operation would last one tick, else 1.

    Where all operations of a device last one tick, CP-SAT turns "no overlap" into "all different" and gives every value
    of every start a literal of its own: golden case v_wave-11 then takes 7 s instead of 0.02.
    """
    duration = problem.operations.duration_ns
    return 2 if int(duration[duration > 0].min(initial=2 * common)) * parts == common else 1


def common_divisor(problem: Problem) -> int:
    """Greatest common divisor in nanoseconds of all durations, lags, deadlines, edges and periods of closed windows."""
    times = [problem.operations.duration_ns, problem.precedences.lag_ns]
    if problem.due_ns is not None:
        times.append(problem.due_ns[problem.due_ns != NO_DEADLINE])
    edges = [
        edge
        for lane in problem.lanes
        for window in lane.windows
        if window.rate_bps == 0
        for edge in (window.start_ns, window.end_ns, window.period_ns)
        if edge is not None
    ]
    times.append(np.array(edges, dtype=np.int64))
    return gcd(*(int(np.gcd.reduce(part)) for part in times if len(part))) or 1
