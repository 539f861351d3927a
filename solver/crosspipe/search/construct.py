"""The first answer: obstacles, known schedules and the greedy, and the first bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.bounds.best import lower_bound
from crosspipe.bounds.obstacles import obstacles
from crosspipe.families.registry import run_families
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.replay import resolved
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.search.incumbents import Board, Candidate
    from crosspipe.search.options import SolveOptions

LONGEST_S = 1.0
"""Most time the greedy's portfolio gets; it stops earlier once it meets the bound."""

SHARE = 0.2
"""Share of the time left that the portfolio may take."""

LARGE = 20_000
"""Above this many operations a deterministic solve runs one pass of the greedy: the whole portfolio takes long."""


def construct(board: Board, candidate: Candidate, options: SolveOptions) -> None:
    """Fill a candidate with its obstacles, or with a bound and the best known schedule."""
    problem, objective = candidate.problem, options.objective
    candidate.obstacles = obstacles(problem)
    if candidate.obstacles:
        candidate.infeasible = True
        return
    bound = lower_bound(problem, objective)
    board.raise_bound(candidate, bound)
    budget_s: float | None = min(LONGEST_S, SHARE * board.clock.left_s)
    if options.deterministic:
        budget_s = None if len(problem.operations) <= LARGE else 0.0
    candidate.families = run_families(problem, objective, budget_s, bound.value_ns)
    for result in candidate.families:
        if result.orders is None:
            continue
        schedule = timed(problem, result.orders, objective)
        whole = resolved(problem, result.orders)
        if fits(whole, schedule):
            board.offer(candidate, schedule, value_ns(whole, schedule, objective), result.name)
