"""One arrangement over one axis: points that lend each other schedules and bounds, as in a sweep, solved when asked."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from crosspipe.problem.problem import Objective
from crosspipe.search.options import SolveOptions
from crosspipe.sweeps.grid import grid_of
from crosspipe.sweeps.models import SweepPoint
from crosspipe.sweeps.settle import settle, slim
from crosspipe.sweeps.solving import Solving
from crosspipe.sweeps.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.plans.compare import Asking, Solved

ONE = Decimal(1)
OBJECTIVE = Objective.MAKESPAN


class Line:
    """What is known of an arrangement at some factors of an axis; `constant` = the axis cannot change it."""

    def __init__(self, solved: Solved, axis: str, *, constant: bool, asking: Asking) -> None:
        if solved.variant is None or solved.answer is None:
            raise ValueError(f"{solved.candidate.name} has no answer to start from")
        self._spec, self._axis, self._asking = solved.variant.spec, axis, asking
        self.constant = constant
        answer, objective = solved.answer, solved.answer.objective
        self._points: dict[Decimal, SweepPoint] = {
            ONE: SweepPoint(
                at={axis: 1},
                reference=False,
                digest=answer.provenance.digest,
                status=answer.status,
                value_ms=objective.value_ms,
                lower_bound_ms=objective.lower_bound_ms,
                gap=objective.gap,
                value_from=answer.provenance.schedule_from,
                bound_from=objective.bound_from,
                explanation=solved.reason,
                time_limit_s=answer.provenance.time_limit_s,
                seconds=answer.provenance.seconds,
                answer=slim(answer),
            )
        }

    def at(self, factor: Decimal) -> SweepPoint:
        """Tell what is known at a factor that was solved."""
        return self._points[ONE if self.constant else factor]

    def solve(
        self, factor: Decimal, time_limit_s: float, should_stop: Callable[[], bool], *, again: bool = False
    ) -> None:
        """Solve the arrangement at a factor, from what its neighbours know; they get what it finds.

        A factor that was solved is left as it is, unless `again` asks for a longer search.

        Raises
        ------
        SpecError, OptionError
            If there is no spec at that factor.
        """
        if self.constant:
            factor = ONE
        if factor in self._points and not again:
            return
        grid = grid_of(self._spec, {self._axis: sorted({*self._points, factor})})
        options = SolveOptions(OBJECTIVE, time_limit_s, 0.0, self._asking.seed, self._asking.workers)
        solving = Solving(grid, options, Store(None, OBJECTIVE), None, should_stop)
        places = {Decimal(grid.points[place].settings[0] or 0): place for place in grid.order}
        # Those that were solved for less long are not solved again.
        solving.points = {
            places[known]: point
            if known == factor
            else point.model_copy(update={"time_limit_s": max(point.time_limit_s, time_limit_s)})
            for known, point in self._points.items()
        }
        solving.to_the_end()
        settle(grid, solving.points, OBJECTIVE)
        self._points = {known: solving.points[place] for known, place in places.items() if place in solving.points}


__all__ = ["Line"]
