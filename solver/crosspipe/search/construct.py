"""The first answer: obstacles, known schedules and the greedy, and the first bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.bounds.best import lower_bound
from crosspipe.bounds.obstacles import obstacles
from crosspipe.families.registry import run_families
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.search.incumbents import Board, Candidate
    from crosspipe.search.options import SolveOptions


def construct(board: Board, candidate: Candidate, options: SolveOptions) -> None:
    """Fill a candidate with its obstacles, or with a bound and the best known schedule."""
    problem, objective = candidate.problem, options.objective
    candidate.obstacles = obstacles(problem)
    if candidate.obstacles:
        candidate.infeasible = True
        return
    board.raise_bound(candidate, lower_bound(problem, objective))
    for variant in recompute_variants(problem):
        results = run_families(variant, objective)
        if not candidate.families:
            candidate.families = results
        for result in results:
            if result.orders is None:
                continue
            schedule = timed(variant, result.orders, objective)
            if fits(variant, schedule):
                board.offer(candidate, schedule, value_ns(variant, schedule, objective), result.name)


def recompute_variants(problem: Problem) -> tuple[Problem, ...]:
    """List the ways of recomputing that are tried: as given, and every stage that may, where any may."""
    if not problem.choices:
        return (problem,)
    return problem, problem.recompute(frozenset(choice.stage for choice in problem.choices))
