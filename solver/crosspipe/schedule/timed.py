"""Orders to the schedule that an objective wants: the replay, then for span the second pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.problem.problem import Objective
from crosspipe.schedule.replay import replay
from crosspipe.schedule.span import delay_for_span

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Orders, Schedule


def timed(problem: Problem, orders: Orders, objective: Objective) -> Schedule:
    """Time the orders for an objective; raises what `replay` raises."""
    schedule = replay(problem, orders)
    return delay_for_span(problem, schedule) if objective is Objective.SPAN else schedule
