"""Orders judged twice: by the measures of the schedule room, and by the independent checker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.checker.check import check
from crosspipe.checker.placed import Placed
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import fits, makespan_ns, span_ns
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Orders, Schedule


def placed(problem: Problem, schedule: Schedule) -> list[Placed]:
    ops = problem.operations
    names = {number: name for name, number in problem.extras}
    rows = zip(
        ops.kind.tolist(),
        ops.stage.tolist(),
        ops.microbatch.tolist(),
        ops.replica.tolist(),
        schedule.start_ns.tolist(),
        schedule.end_ns.tolist(),
        ops.resource.tolist(),
        ops.leg.tolist(),
        strict=True,
    )
    return [
        Placed(
            Kind(kind),
            stage,
            microbatch,
            replica,
            start,
            end,
            None if resource < 0 else resource,
            names.get(number),
            leg,
        )
        for number, (kind, stage, microbatch, replica, start, end, resource, leg) in enumerate(rows)
    ]


def accepted(problem: Problem, orders: Orders, objective: Objective = Objective.MAKESPAN) -> Schedule:
    """Time orders that must be right in every respect."""
    schedule = timed(problem, orders, objective)
    report = check(problem, placed(problem, schedule), orders.recomputed)
    assert report.violations == ()
    assert report.makespan_ns == makespan_ns(schedule)
    assert report.span_ns == span_ns(problem, schedule)
    assert fits(problem, schedule)
    return schedule
