"""The steps of one improvement: solve in ticks, confirm what must be, close what rounding left open."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from crosspipe.errors import NeverOpensError
from crosspipe.model.build import build
from crosspipe.model.extract import orders_of
from crosspipe.model.result import ModelResult
from crosspipe.model.scale import LARGEST_EXACT_HORIZON, LARGEST_HORIZON
from crosspipe.model.search import deterministic_work, search
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.model.build import Built
    from crosspipe.model.result import Listeners, ModelLimits
    from crosspipe.model.search import Found
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders, Schedule


class Improvement:
    """One call of `improve`: the best schedule and bound so far, and the steps that better them.

    Attributes
    ----------
    schedule
        Best feasible schedule, replayed exactly, or None.
    bound_ns
        Proven lower bound.
    """

    def __init__(
        self,
        problem: Problem,
        objective: Objective,
        incumbent: Schedule | None,
        lower_bound_ns: int,
        limits: ModelLimits,
        listeners: Listeners,
    ) -> None:
        if incumbent is not None and not fits(problem, incumbent):
            raise ValueError("the incumbent breaks a memory limit or a deadline")
        self._problem, self._objective, self._limits, self._listeners = problem, objective, limits, listeners
        self._deadline = time.monotonic() + limits.time_s
        self._work = deterministic_work(limits.time_s, len(problem.operations))
        self.schedule = incumbent
        self.bound_ns = lower_bound_ns

    @property
    def closed(self) -> bool:
        """Whether the gap asked for is reached."""
        if self.schedule is None:
            return False
        value = value_ns(self._problem, self.schedule, self._objective)
        return value - self.bound_ns <= self._limits.relative_gap * value

    def result(self) -> ModelResult:
        """Return what is known now."""
        if self.schedule is None:
            return ModelResult("unknown", None, self.bound_ns)
        proved = value_ns(self._problem, self.schedule, self._objective) <= self.bound_ns
        return ModelResult("optimal" if proved else "feasible", self.schedule.orders, self.bound_ns)

    def attempt(self) -> Literal["infeasible", "rounded", "done"]:
        """Solve the model in ticks; `rounded` if it was solved to the end but its units are too coarse for a proof."""
        built = self._build()
        if built == "impossible" and self.schedule is None:
            return "infeasible"
        if isinstance(built, str):
            return "done"
        found = self._search(built, trusted=True)
        if found.refuted and self.schedule is None:
            # CP-SAT has answered a wrong INFEASIBLE before: only a second, differently presolved solve is believed.
            found = self._search(built, trusted=True, presolve=False)
            if found.refuted:
                return "infeasible"
        return "rounded" if found.proved and not built.ticks.scale.exact else "done"

    def refine(self) -> None:
        """Solve again in the finest units, between the bound and the best schedule that the coarse units gave.

        Such large times are not trusted (see `scale`): a better schedule is, being replayed, but the proof that there
        is no better one must come from a second, differently presolved solve as well.
        """
        fine = self._build(LARGEST_EXACT_HORIZON)
        if isinstance(fine, str) or not fine.ticks.scale.exact or self.schedule is None:
            return
        if not self._search(fine, trusted=False).proved:
            return
        below = self._build(LARGEST_EXACT_HORIZON, better=True)
        if isinstance(below, str):
            return
        if self._search(below, trusted=False, presolve=False).refuted:
            self._raise_bound(value_ns(self._problem, self.schedule, self._objective))

    def _build(
        self, largest: int = LARGEST_HORIZON, *, better: bool = False
    ) -> Built | Literal["impossible", "stopped"]:
        known, limit = self.schedule, self.bound_ns
        return build(self._problem, self._objective, known, limit, self._go_on, largest=largest, better=better)

    def _go_on(self) -> bool:
        return time.monotonic() < self._deadline and not self._listeners.should_stop()

    def _enough(self) -> bool:
        """Whether the exact replay has closed the gap before the solver has; a deterministic run ends by itself."""
        return self.closed and not self._limits.deterministic

    def _search(self, built: Built, *, trusted: bool, presolve: bool = True) -> Found:
        """Run the solver, keep what the exact replay finds better, and its bound if `trusted`."""

        def on_starts(starts: IntArray) -> None:
            self._offer(orders_of(built.ticks, starts, built.order))

        def on_bound(bound: int) -> None:
            if trusted:
                self._raise_bound(built.ticks.scale.bound_ns(bound, self._objective))

        found = search(
            built.model,
            built.variables.start,
            self._limits,
            self._deadline,
            self._work,
            presolve=presolve,
            on_starts=on_starts,
            on_bound=on_bound,
            should_stop=lambda: self._enough() or self._listeners.should_stop(),
        )
        self._work -= found.work
        if trusted and found.bound is not None:
            self._raise_bound(built.ticks.scale.bound_ns(found.bound, self._objective))
        return found

    def _raise_bound(self, bound_ns: int) -> None:
        if bound_ns > self.bound_ns:
            self.bound_ns = bound_ns
            self._listeners.on_bound(bound_ns)

    def _offer(self, orders: Orders) -> None:
        """Replay orders exactly; keep and tell them if they are the best so far."""
        try:
            schedule = timed(self._problem, orders, self._objective)
        except NeverOpensError:
            return
        if not fits(self._problem, schedule):
            return
        value = value_ns(self._problem, schedule, self._objective)
        if self.schedule is None or value < value_ns(self._problem, self.schedule, self._objective):
            self.schedule = schedule
            self._listeners.on_solution(orders)
