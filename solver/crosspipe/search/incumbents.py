"""The best schedule and bound known for each candidate placement, and for all together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crosspipe.certificate.write import derivable
from crosspipe.errors import CrossPipeError
from crosspipe.search.progress import Progress, relative_gap

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.bounds.best import Bound
    from crosspipe.bounds.obstacles import Obstacle
    from crosspipe.families.registry import FamilyResult
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule
    from crosspipe.search.clock import Clock


HEARTBEAT_S = 0.9
"""The state is told at least this often while a solving process runs."""


class SolverContradictionError(CrossPipeError):
    """A bound or a refutation contradicts a schedule that is known: a fault of CrossPipe, never of the input."""

    code = "solver_contradiction"


@dataclass(slots=True)
class Candidate:
    """One placement under search.

    Attributes
    ----------
    problem
        Its compiled problem.
    schedule, value_ns, source
        Best schedule so far, its value and who made it; None before the first.
    bound
        Best lower bound, None before the first or where obstacles rule the placement out.
    derivable
        Best lower bound whose argument can be derived again without the solver.
    obstacles
        Why no schedule exists here; empty where none was found.
    families
        Every known schedule tried, fitting or not.
    infeasible
        Whether it is proved that no schedule exists here.
    construction_s
        Time that obstacles, the first bound and the known schedules took, without the greedy.
    """

    problem: Problem
    schedule: Schedule | None = None
    value_ns: int | None = None
    source: str | None = None
    bound: Bound | None = None
    derivable: Bound | None = None
    obstacles: tuple[Obstacle, ...] = ()
    families: tuple[FamilyResult, ...] = ()
    infeasible: bool = False
    construction_s: float = 0.0

    @property
    def open(self) -> bool:
        """Whether a better schedule may still exist here."""
        if self.infeasible:
            return False
        return self.value_ns is None or self.bound is None or self.bound.value_ns < self.value_ns


@dataclass(slots=True)
class Board:
    """All candidates, and the telling of news; `rest` bounds what the spec leaves open besides, None for nothing.

    At a tie of values `preferred` is the best.
    """

    candidates: list[Candidate]
    clock: Clock
    on_progress: Callable[[Progress], None] | None = None
    history: list[Progress] = field(default_factory=list)
    told_s: float = 0.0
    rest: Bound | None = None
    preferred: Candidate | None = None

    @property
    def best(self) -> Candidate | None:
        """Candidate with the best schedule; at a tie the preferred one, or the earlier."""
        known = [c for c in self.candidates if c.value_ns is not None]
        return min(known, key=lambda c: (c.value_ns or 0, c is not self.preferred), default=None)

    @property
    def bound(self) -> Bound | None:
        """Lower bound over all candidates that may have a schedule; None while one of them has none."""
        alive = [c.bound for c in self.candidates if not c.infeasible]
        if self.rest is not None:
            alive.append(self.rest)
        known = [bound for bound in alive if bound is not None]
        return min(known, key=lambda bound: bound.value_ns) if known and len(known) == len(alive) else None

    @property
    def infeasible(self) -> bool:
        """Whether it is proved that there is no schedule at all."""
        return self.rest is None and all(candidate.infeasible for candidate in self.candidates)

    @property
    def value_ns(self) -> int | None:
        """Best value."""
        best = self.best
        return None if best is None else best.value_ns

    @property
    def bound_ns(self) -> int | None:
        """Value of that bound."""
        bound = self.bound
        return None if bound is None else bound.value_ns

    @property
    def gap(self) -> float | None:
        """(value - bound) / value, None while either is unknown."""
        return relative_gap(self.value_ns, self.bound_ns)

    def worth(self, candidate: Candidate) -> bool:
        """Whether a candidate may still beat the best schedule of all."""
        value = self.value_ns
        return candidate.open and (value is None or candidate.bound is None or candidate.bound.value_ns < value)

    def offer(self, candidate: Candidate, schedule: Schedule, value_ns: int, source: str) -> None:
        """Keep a schedule if it is better than what the candidate has.

        Raises
        ------
        SolverContradictionError
            If it is better than the candidate's bound allows.
        """
        if candidate.value_ns is not None and candidate.value_ns <= value_ns:
            return
        candidate.schedule, candidate.value_ns, candidate.source = schedule, value_ns, source
        _agree(candidate)
        self.tell(source)

    def raise_bound(self, candidate: Candidate, bound: Bound) -> None:
        """Keep a bound if it is better than what the candidate has.

        Raises
        ------
        SolverContradictionError
            If the candidate has a schedule that is better than the bound allows.
        """
        known = candidate.derivable
        if derivable(bound.name, bound.data) and (known is None or known.value_ns < bound.value_ns):
            candidate.derivable = bound
        if candidate.bound is not None and candidate.bound.value_ns >= bound.value_ns:
            return
        candidate.bound = bound
        _agree(candidate)
        self.tell(bound.name)

    def refute(self, candidate: Candidate) -> None:
        """Note that no schedule exists here.

        Raises
        ------
        SolverContradictionError
            If the candidate has one.
        """
        if candidate.schedule is not None:
            raise SolverContradictionError("a problem is called infeasible for which a schedule is known")
        candidate.infeasible = True

    def beat(self) -> None:
        """Tell the state if it has not been told for a while."""
        if self.clock.seconds - self.told_s >= HEARTBEAT_S:
            self.tell("clock")

    def tell(self, source: str) -> None:
        """Send the state on; changes are also kept as history."""
        self.told_s = self.clock.seconds
        news = Progress(self.told_s, self.value_ns, self.bound_ns, source)
        last = self.history[-1] if self.history else None
        if last is None or (last.value_ns, last.bound_ns) != (news.value_ns, news.bound_ns):
            self.history.append(news)
        if self.on_progress is not None:
            self.on_progress(news)


def _agree(candidate: Candidate) -> None:
    value, bound = candidate.value_ns, candidate.bound
    if value is not None and bound is not None and bound.value_ns > value:
        raise SolverContradictionError(
            f"the bound of {bound.name} ({bound.value_ns} ns) lies above a known schedule of {value} ns"
        )
