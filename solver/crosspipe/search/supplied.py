"""Taking further problems from a supply: constructed, bounded in a moment, and kept where they may still be best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.search.bounding import quick_bound
from crosspipe.search.construct import construct
from crosspipe.search.incumbents import Candidate

if TYPE_CHECKING:
    from crosspipe.search.incumbents import Board
    from crosspipe.search.options import SolveOptions
    from crosspipe.search.supply import Supply

FIRST = 8
"""Problems that are constructed before the first is searched, while there is time."""

NEXT = 2
"""Problems that are constructed after each search of one."""

SHARE = 0.25
"""Share of the time left that constructing may take at once."""

BOUND_S = 0.1
"""Most time for the bound of one problem."""


def take(board: Board, supply: Supply, options: SolveOptions, count: int) -> list[Candidate]:
    """Take up to `count` problems that may be better than what is known, and put them on the board.

    Of what has no chance to be best its bound alone is kept: that lies above the best value.
    """
    until_s = board.clock.seconds + SHARE * board.clock.left_s

    def out_of_time() -> bool:
        late = board.clock.seconds >= until_s or board.clock.asked_to_stop()
        return late and not options.deterministic

    found: list[Candidate] = []
    value_ns = board.value_ns
    supply.tighten(value_ns, out_of_time)
    board.rest = supply.bound()
    while board.rest is not None and len(found) < count and not out_of_time():
        best = board.best
        problem = supply.more(None if best is None else board.candidates.index(best), out_of_time)
        if problem is None:
            break
        candidate = Candidate(problem)
        board.candidates.append(candidate)
        construct(board, candidate, options)
        if board.worth(candidate) and candidate.bound is not None:
            seconds = 0.0 if options.deterministic else min(BOUND_S, board.clock.left_s)
            board.raise_bound(candidate, quick_bound(problem, options.objective, seconds))
        if board.worth(candidate):
            found.append(candidate)
        if board.value_ns != value_ns:
            value_ns = board.value_ns
            supply.tighten(value_ns, out_of_time)
        board.rest = supply.bound()
        board.beat()
    board.rest = supply.bound()
    return found
