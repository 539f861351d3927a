"""Solves the points of a grid one after the other, each from what is known of its neighbours."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crosspipe.answer.solve import solve
from crosspipe.answer.units import to_ms_or_none, to_ns
from crosspipe.search.progress import relative_gap
from crosspipe.sweeps.models import SweepPoint
from crosspipe.sweeps.progress import SweepProgress
from crosspipe.sweeps.settle import NEIGHBOUR, bounded, concluded, settle, slim

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.answer.models import Answer
    from crosspipe.search.options import SolveOptions
    from crosspipe.search.progress import Progress
    from crosspipe.sweeps.grid import Grid, Place
    from crosspipe.sweeps.settle import Points
    from crosspipe.sweeps.store import Store


class Solving:
    """The points as they become known."""

    def __init__(
        self,
        grid: Grid,
        options: SolveOptions,
        store: Store,
        on_progress: Callable[[SweepProgress], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        self._grid, self._options, self._store = grid, options, store
        self._on_progress = on_progress
        self._should_stop = should_stop or (lambda: False)
        self._objective = options.objective.value
        self._taken_s: list[float] = []
        self.points: Points = {}
        for place, point in grid.points.items():
            known = store.known_at(point.spec, point.digest)
            if known is not None:
                update = {"at": grid.at(place), "reference": point.reference}
                self.points[place] = known.model_copy(update=update)

    def to_the_end(self) -> bool:
        """Solve what is missing; returns whether nothing is any more."""
        missing = [place for place in self._grid.order if self._is_missing(place)]
        first = len(self._grid.order) - len(missing) + 1
        # What the file knows of points that are solved anew is where these start from.
        old = {place: self.points.pop(place) for place in missing if place in self.points}
        settle(self._grid, self.points, self._objective)
        for number, place in enumerate(missing, first):
            began = time.monotonic()
            point = None if self._should_stop() else self._point(place, old.get(place), number)
            if point is None:
                self.points |= {there: known for there, known in old.items() if there not in self.points}
                return False
            self._taken_s.append(time.monotonic() - began)
            self.points[place] = point
            self._store.keep(point)
            settle(self._grid, self.points, self._objective)
            self._tell(number, place, self.points[place], done=True)
        return True

    def _is_missing(self, place: Place) -> bool:
        """Whether a point is not known, or might be known better with the time or to the gap that is asked for."""
        known = self.points.get(place)
        if known is None:
            return True
        if known.status in ("optimal", "infeasible"):
            return False
        by_gap = known.answer is not None and known.answer.stop_reason == "gap"
        wide = by_gap and known.gap is not None and known.gap > self._options.relative_gap
        return wide or known.time_limit_s < self._options.time_limit_s

    def _point(self, place: Place, old: SweepPoint | None, number: int) -> SweepPoint | None:
        """Solve a point; None where it was stopped."""
        given = self._grid.points[place]
        known = old or SweepPoint(
            at=self._grid.at(place),
            reference=given.reference,
            digest=given.digest,
            status="unknown",
            value_ms=None,
            lower_bound_ms=None,
            gap=None,
            value_from=None,
            bound_from=None,
            explanation=None,
            time_limit_s=self._options.time_limit_s,
            seconds=0.0,
            answer=None,
        )
        for better in self._grid.better[place]:
            if better in self.points:
                known = bounded(known, self.points[better], self._grid.said(better))
        if known.status == "infeasible":
            return known
        self._tell(number, place, known, done=False)
        lenders = [there for there in self._grid.beside(place) if there in self.points]
        starts = {f"{NEIGHBOUR} {self._grid.said(there)}": self.points[there].answer for there in lenders}
        if old is not None:
            starts = {old.value_from or "": old.answer} | starts
        held = {source: answer for source, answer in starts.items() if answer is not None and answer.devices}
        answer, stopped = self._solve(place, known, number, list(held.values()))
        if stopped:
            return None
        return self._found(known, answer, list(held))

    def _solve(self, place: Place, known: SweepPoint, number: int, starts: list[Answer]) -> tuple[Answer, bool]:
        """Search, until the bound is reached that is known besides; also says whether it was stopped from outside."""
        options = self._options
        bound_ns = None if known.lower_bound_ms is None else to_ns(known.lower_bound_ms)
        reached = False
        stopped = False

        def on_progress(news: Progress) -> None:
            nonlocal reached
            if news.value_ns is not None and bound_ns is not None:
                reached = news.value_ns - bound_ns <= options.relative_gap * news.value_ns
            best_ns = max((one for one in (news.bound_ns, bound_ns) if one is not None), default=None)
            update = {
                "value_ms": to_ms_or_none(news.value_ns),
                "lower_bound_ms": to_ms_or_none(best_ns),
                "gap": relative_gap(news.value_ns, best_ns),
            }
            self._tell(number, place, known.model_copy(update=update), done=False)

        def should_stop() -> bool:
            nonlocal stopped
            stopped = stopped or self._should_stop()
            return stopped or (reached and not options.deterministic)  # the moment it is reached is chance

        answer = solve(
            self._grid.points[place].spec,
            time_limit_s=options.time_limit_s,
            objective=options.objective.value,
            relative_gap=options.relative_gap,
            seed=options.seed,
            workers=options.workers,
            deterministic=options.deterministic,
            start=starts,
            on_progress=on_progress,
            should_stop=should_stop,
        )
        return answer, stopped and answer.status not in ("optimal", "infeasible")

    def _found(self, known: SweepPoint, answer: Answer, lenders: list[str]) -> SweepPoint:
        """Put together what the search found and what was known before it."""
        objective = answer.objective
        told: dict[str, object] = {"time_limit_s": self._options.time_limit_s, "seconds": answer.provenance.seconds}
        if answer.status == "infeasible":
            summary = None if answer.explanation is None else answer.explanation.summary
            none = dict.fromkeys(("value_ms", "lower_bound_ms", "gap", "value_from", "bound_from"))
            last = {"status": "infeasible", "explanation": summary, "answer": slim(answer)}
            return known.model_copy(update=told | none | last)
        source = answer.provenance.schedule_from
        if source is not None and source.startswith("start"):
            source = lenders[int(source.removeprefix("start") or 1) - 1]
        told |= {"value_ms": objective.value_ms, "value_from": source}
        if objective.lower_bound_ms is not None and (
            known.lower_bound_ms is None or objective.lower_bound_ms >= known.lower_bound_ms
        ):
            told |= {"lower_bound_ms": objective.lower_bound_ms, "bound_from": objective.bound_from}
        return concluded(known.model_copy(update=told), answer)

    def _tell(self, number: int, place: Place, point: SweepPoint, *, done: bool) -> None:
        if self._on_progress is None:
            return
        count = len(self._grid.order)
        mean_s = sum(self._taken_s) / len(self._taken_s) if self._taken_s else None
        left_s = None if mean_s is None else mean_s * (count - number + (not done))
        where = self._grid.said(place)
        self._on_progress(
            SweepProgress(number, count, where, point.value_ms, point.lower_bound_ms, point.gap, left_s, done)
        )
