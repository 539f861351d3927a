"""Improve a schedule, or prove that it cannot be improved, with CP-SAT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.model.improvement import Improvement
from crosspipe.model.result import Listeners, ModelLimits, ModelResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders, Schedule

MOST_OPERATIONS = 60_000
"""Above this a model takes longer to build and presolve than it can give back: the incumbent is returned at once."""


def improve(
    problem: Problem,
    objective: Objective,
    incumbent: Schedule | None,
    lower_bound_ns: int,
    limits: ModelLimits,
    on_solution: Callable[[Orders], None] = lambda _: None,
    on_bound: Callable[[int], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ModelResult:
    """Search for better orders, or a proof that there are none.

    The model is exact up to its units (see `scale`), except that lanes with slower windows run at full rate and lanes
    with too many windows are always open. Both only lower its bound. Every solution is replayed exactly, and `optimal`
    is claimed by one rule: the replayed schedule fits and its value equals the bound.

    Parameters
    ----------
    problem
        The problem with its recompute options applied (`Problem.recompute`). A bound that holds for every choice of
        options comes from `relax_choices(problem)` instead.
    objective
        What is minimised.
    incumbent
        A feasible schedule of this problem, or None.
    lower_bound_ns
        A proven lower bound, 0 if none is known.
    limits
        Time (building included), workers, seed, gap.
    on_solution
        Called with orders whose exact replay fits and is better than everything before.
    on_bound
        Called with each better bound, nanoseconds.
    should_stop
        Asked all the time; a yes ends the search within a few hundredths of a second.

    Raises
    ------
    ValueError
        If the incumbent breaks a memory limit or a deadline.
    InvalidModelError
        If CP-SAT refuses the model.
    """
    listeners = Listeners(on_solution, on_bound, should_stop)
    work = Improvement(problem, objective, incumbent, lower_bound_ns, limits, listeners)
    if len(problem.operations) > MOST_OPERATIONS or work.closed:
        return work.result()
    verdict = work.attempt()
    if verdict == "infeasible":
        return ModelResult("infeasible", None, None)
    if verdict == "rounded" and not work.closed:
        work.refine()
    return work.result()


__all__ = ["MOST_OPERATIONS", "ModelLimits", "ModelResult", "improve"]
