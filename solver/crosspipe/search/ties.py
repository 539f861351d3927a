"""Which of several problems with schedules of one value is taken: fewer crossings, lower peak, the user's order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.schedule.replay import resolved
from crosspipe.search.construct import construct
from crosspipe.search.incumbents import Candidate
from crosspipe.search.memory_share import fullest

if TYPE_CHECKING:
    from fractions import Fraction

    from crosspipe.problem.problem import Problem
    from crosspipe.search.incumbents import Board
    from crosspipe.search.options import SolveOptions
    from crosspipe.search.supply import Supply

SHARE = 0.1
LONGEST_S = 1.0
"""Part of the time left, and most time, that goes to other problems which may have schedules of the same value."""

MOST = 16
"""Problems of the same value that are tried."""

Preference = tuple[int, "Fraction | int", tuple[int, ...]]


def crossed(problem: Problem) -> int:
    """Count the boundaries between stages in different sites."""
    sites = [problem.devices[stage.device].site for stage in problem.stages]
    return sum(a != b for a, b in pairwise(sites))


def preference(candidate: Candidate) -> Preference:
    """Order candidates of one value: the least is taken."""
    problem, schedule = candidate.problem, candidate.schedule
    full = None if schedule is None else fullest(resolved(problem, schedule.orders), schedule)
    order = tuple(stage.device for stage in problem.stages)
    return crossed(problem), 0 if full is None else full.share, order


def settle_ties(board: Board, supply: Supply, options: SolveOptions) -> None:
    """Look for problems of the best value that are preferred to the best one, and let the board know of it."""
    best = board.best
    if best is None or best.value_ns is None:
        return
    value_ns = best.value_ns
    until_s = board.clock.seconds + min(LONGEST_S, SHARE * board.clock.left_s)

    def out_of_time() -> bool:
        return board.clock.asked_to_stop() or (not options.deterministic and board.clock.seconds >= until_s)

    for _ in range(MOST):
        if out_of_time():
            break
        problem = supply.equal(value_ns, crossed(best.problem), out_of_time)
        if problem is None:
            break
        candidate = Candidate(problem)
        board.candidates.append(candidate)
        construct(board, candidate, options)
    equal = [candidate for candidate in board.candidates if candidate.value_ns == value_ns]
    board.preferred = min(equal, key=preference)
