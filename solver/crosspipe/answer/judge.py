"""No schedule leaves the program that the independent checker has not passed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from crosspipe.checker.check import check
from crosspipe.checker.placed import Placed
from crosspipe.errors import CrossPipeError
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.checker.report import Report
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule


class RejectedAnswerError(CrossPipeError):
    """A schedule of our own broke a rule: a fault of CrossPipe, never of the input."""

    code: ClassVar[str] = "rejected_answer"


def placed_of(problem: Problem, schedule: Schedule) -> tuple[Placed, ...]:
    """Write a schedule as the rows that the checker judges, with the resources its orders claim."""
    ops = problem.operations
    names = {number: name for name, number in problem.extras}
    claimed: list[int | None] = [None] * len(ops)
    for resource, sequence in enumerate(schedule.orders.sequences):
        for number in sequence.tolist():
            claimed[number] = resource
    columns = (ops.kind, ops.stage, ops.microbatch, ops.replica, ops.leg, schedule.start_ns, schedule.end_ns)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(
        Placed(Kind(kind), stage, microbatch, replica, start, end, claimed[number], names.get(number), leg)
        for number, (kind, stage, microbatch, replica, leg, start, end) in enumerate(rows)
    )


def judge(problem: Problem, schedule: Schedule, makespan_ns: int, span_ns: int) -> Report:
    """Let the checker judge a schedule and what is claimed of it.

    Raises
    ------
    RejectedAnswerError
        If it breaks a rule, or the checker measures another makespan or span.
    """
    report = check(problem, placed_of(problem, schedule), schedule.orders.recomputed)
    if not report.ok:
        first = report.violations[0].message
        raise RejectedAnswerError(f"a schedule of our own breaks rules ({len(report.violations)}), the first: {first}")
    if (report.makespan_ns, report.span_ns) != (makespan_ns, span_ns):
        raise RejectedAnswerError(
            f"the checker measures makespan {report.makespan_ns} and span {report.span_ns} ns,"
            f" claimed were {makespan_ns} and {span_ns} ns"
        )
    return report
