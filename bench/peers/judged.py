"""The common measure of all peers: their orders, timed and checked as CrossPipe's own are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.answer.judge import judge
from crosspipe.schedule.measure import makespan_ns, span_ns, value_ns
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders, Schedule


def judged(problem: Problem, orders: Orders, objective: Objective) -> tuple[Schedule, int]:
    """Time orders, let the independent checker pass them, and give the value.

    Raises
    ------
    RejectedAnswerError
        If they break a rule.
    """
    schedule = timed(problem, orders, objective)
    judge(problem, schedule, makespan_ns(schedule), span_ns(problem, schedule))
    return schedule, value_ns(problem, schedule, objective)


@dataclass(frozen=True, slots=True)
class Unit:
    """The largest unit of which every time of a problem is a whole number, and with it every makespan and span."""

    ns: int

    @classmethod
    def of(cls, problem: Problem) -> Unit:
        """Find it among durations and lags."""
        times = np.concatenate([problem.operations.duration_ns, problem.precedences.lag_ns])
        return cls(max(1, int(np.gcd.reduce(times))))

    def up(self, bound: float) -> int:
        """Turn a MILP's bound in units, true to about 1e-9 of itself, into nanoseconds: a value is whole units."""
        return math.ceil(bound - max(1e-5, 1e-9 * abs(bound))) * self.ns

    def whole(self, units: float) -> int:
        """Turn a whole number of units into nanoseconds."""
        return round(units) * self.ns
