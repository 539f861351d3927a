"""The first answer: obstacles, known schedules and the greedy, and the first bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.bounds.best import lower_bound
from crosspipe.bounds.obstacles import obstacles
from crosspipe.families.portfolio import best_greedy
from crosspipe.families.registry import FAMILIES, GREEDY, FamilyResult
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

PATIENCE_S = 2.0
"""As long as no schedule at all is known the portfolio goes on for the time left, and this long at least."""

MOMENT_S = 1.0
"""Construction may take this long whatever the limit: on all but very large problems every known schedule is tried."""

NO_TIME = "not tried: the time limit had passed"

LARGE = 2_000
"""Above this many operations a deterministic solve runs one pass of the greedy: the whole portfolio takes long."""

FEWEST_PASSES = 8
"""Passes of the greedy that are made of smaller problems even without any time: a few hundredths of a second."""


def construct(board: Board, candidate: Candidate, options: SolveOptions, *, bound_only: bool = False) -> None:
    """Fill a candidate with its obstacles, or with a bound and the best known schedule.

    A stop request cuts it short once any schedule is known.
    """
    began_s = board.clock.seconds
    candidate.obstacles = obstacles(candidate.problem)
    if candidate.obstacles:
        board.refute(candidate)
    else:
        board.raise_bound(candidate, lower_bound(candidate.problem, options.objective))
        if not bound_only:
            _known(board, candidate, options, began_s)


def _known(board: Board, candidate: Candidate, options: SolveOptions, began_s: float) -> None:
    for family in FAMILIES:
        late = _late(board, began_s)
        result = (
            FamilyResult.refused(family.name, NO_TIME) if late else family.put_to(candidate.problem, options.objective)
        )
        _keep(board, candidate, result, options)
        if board.value_ns is not None and board.clock.asked_to_stop():
            return
    candidate.construction_s = board.clock.seconds - began_s
    late = _late(board, began_s)
    _keep(
        board, candidate, FamilyResult.refused(GREEDY, NO_TIME) if late else _greedy(board, candidate, options), options
    )


def _late(board: Board, began_s: float) -> bool:
    """Whether what is known must do: the time is over, and more than a moment was spent."""
    return board.value_ns is not None and board.clock.left_s == 0 and board.clock.seconds - began_s >= MOMENT_S


def _greedy(board: Board, candidate: Candidate, options: SolveOptions) -> FamilyResult:
    problem = candidate.problem
    budget_s: float | None = min(LONGEST_S, SHARE * board.clock.left_s)
    patience_s: float | None = max(PATIENCE_S, board.clock.left_s) if board.value_ns is None else budget_s
    if options.deterministic:
        budget_s, patience_s = None if len(problem.operations) <= LARGE else 0.0, None
    target_ns = None if candidate.bound is None else candidate.bound.value_ns
    fewest = FEWEST_PASSES if len(problem.operations) <= LARGE else 1
    return best_greedy(problem, options.objective, budget_s, target_ns, patience_s, fewest)


def _keep(board: Board, candidate: Candidate, result: FamilyResult, options: SolveOptions) -> None:
    """Add a row to the known schedules, and offer its orders."""
    candidate.families = (*candidate.families, result)
    board.beat()
    if result.orders is None or result.value_ns is None:
        return
    if candidate.value_ns is not None and result.value_ns >= candidate.value_ns:
        return
    schedule = timed(candidate.problem, result.orders, options.objective)
    whole = resolved(candidate.problem, result.orders)
    value = value_ns(whole, schedule, options.objective)
    # Orders of combined backwards can do better where B and W are apart: that is another schedule than the family's.
    source = result.name if value == result.value_ns else f"{result.name}, B and W apart"
    if fits(whole, schedule):
        board.offer(candidate, schedule, value, source)
