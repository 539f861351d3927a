"""Better schedules and bounds from the solving process, for one candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.bounds.best import Bound
from crosspipe.errors import NeverOpensError
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.timed import timed
from crosspipe.search.runner import ChildLimits, Runner

if TYPE_CHECKING:
    from crosspipe.schedule.orders import Orders
    from crosspipe.search.incumbents import Board, Candidate
    from crosspipe.search.options import SolveOptions
    from crosspipe.search.runner import ChildResult
    from crosspipe.search.shared import Proof

STARTUP_S = 0.75
"""A solving process is not worth starting for less time than this: it takes most of it to load."""


WHERE = {
    "cp-sat": "the CP-SAT model",
    "count states": "all devices and lanes together",
    "case split": "all devices and lanes together, pair after pair",
}
"""What a bound of the solving process speaks of, by its source."""


def improve(board: Board, candidate: Candidate, options: SolveOptions, until_s: float) -> ChildResult:
    """Let the solving process work on a candidate until the clock shows `until_s` or the gap asked for is reached.

    Its bound counts only where the solver had the whole problem before it: not while recompute options are open, since
    it takes them as given.
    """
    problem = candidate.problem
    recomputed = frozenset() if candidate.schedule is None else candidate.schedule.orders.recomputed
    whole = not problem.choices
    given = problem.recompute(recomputed) if recomputed else problem

    def on_orders(orders: Orders, source: str) -> bool:
        # The model is coarser than the replay, and knows some windows only in part (see `crosspipe.model.solve`).
        try:
            schedule = timed(given, orders, options.objective)
        except NeverOpensError:
            return False
        if not fits(given, schedule):
            return False
        board.offer(candidate, schedule, value_ns(given, schedule, options.objective), source)
        return True

    def on_bound(bound_ns: int, source: str, proof: Proof) -> None:
        if whole:
            board.raise_bound(candidate, Bound(bound_ns, source, WHERE[source], proof))

    def enough() -> bool:
        if options.deterministic:
            return False  # the process ends by itself, always at the same point
        gap = board.gap
        return not board.worth(candidate) or (gap is not None and gap <= options.relative_gap)

    runner = Runner(
        given,
        options.objective,
        None if candidate.schedule is None else candidate.schedule.orders,
        0 if candidate.bound is None else candidate.bound.value_ns,
        ChildLimits(
            time_s=max(0.1, until_s - board.clock.seconds),
            workers=options.workers,
            seed=options.seed,
            relative_gap=options.relative_gap,
            deterministic=options.deterministic,
            # Not what is left of the time, which no two runs have alike.
            counted_s=options.time_limit_s / len(board.candidates),
        ),
    )
    result = runner.run(board.clock, until_s, on_orders, on_bound, board.beat, enough)
    if result.status == "infeasible" and whole:
        board.refute(candidate)
    return result
