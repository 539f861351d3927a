"""`sweep`: solves a spec at every point of a grid, best points first, each starting from its neighbours."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from crosspipe.answer.restore import SpecSource, parsed_spec
from crosspipe.answer.solve import one_of, solve
from crosspipe.answer.units import to_ms
from crosspipe.problem.problem import Objective
from crosspipe.search.options import SolveOptions, usable_cores
from crosspipe.spec.digest import spec_digest
from crosspipe.sweeps.axes import plain
from crosspipe.sweeps.grid import grid_of
from crosspipe.sweeps.models import Sweep, SweepAxis, SweepPoint
from crosspipe.sweeps.readings import TOLERANCE, readings_of, require_tolerance
from crosspipe.sweeps.settle import NEIGHBOUR, bounded, concluded, settle, slim
from crosspipe.sweeps.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crosspipe.answer.models import Answer
    from crosspipe.search.progress import Progress
    from crosspipe.sweeps.grid import Grid, Place
    from crosspipe.sweeps.settle import Points


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """State of a sweep at a moment.

    Attributes
    ----------
    number, count
        Which point is being solved, from 1, and how many there are.
    where
        Its values, in words.
    value_ms, bound_ms, gap
        What is known of it; None while unknown.
    left_s
        Seconds that the rest will take if it goes on like this; None before the first point.
    done
        Whether the point is done.
    """

    number: int
    count: int
    where: str
    value_ms: float | None
    bound_ms: float | None
    gap: float | None
    left_s: float | None
    done: bool


def sweep(
    spec: SpecSource,
    axes: Mapping[str, Sequence[object]],
    *,
    time_limit_s: float = 5.0,
    objective: str = "makespan",
    relative_gap: float = 0.0,
    seed: int = 0,
    workers: int | None = None,
    deterministic: bool = False,
    tolerance: float = TOLERANCE,
    out: Path | str | None = None,
    on_progress: Callable[[SweepProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Sweep:
    """Solve a spec at every combination of some values.

    Parameters
    ----------
    spec
        The cluster spec.
    axes
        Values by what varies: `memory_gb` (of every device), `memory` (a factor of each device's own), `latency_ms` and
        `bandwidth_gbps` (of every link between two sites), `microbatches`, `in_flight`, `traversal`. With a place
        (`memory_gb:east`, `latency_ms:east-west`) only that site or link varies.
    time_limit_s
        Seconds for each point.
    objective, relative_gap, seed, workers, deterministic
        As for `solve`.
    tolerance
        Share by which a value may be longer and still count as no loss in the readings.
    out
        File that keeps each point as it is solved; run again, only missing points are solved: those that are not there,
        or neither proved nor solved for as long as `time_limit_s`.
    on_progress
        Called at the beginning and end of each point, and at each news of its search.
    should_stop
        Asked often; once true, the sweep ends with the points that are done.

    Raises
    ------
    SpecError
        If the spec is malformed, or invalid at a point: nothing is solved then.
    OptionError
        If an axis, a value or an option is wrong.
    SweepFileError
        If `out` holds something else.
    """
    chosen = Objective(one_of("objective", objective, [known.value for known in Objective]))
    cores = usable_cores() if workers is None else workers
    options = SolveOptions(chosen, time_limit_s, relative_gap, seed, cores, deterministic)
    require_tolerance(tolerance)
    parsed = parsed_spec(spec)
    grid = grid_of(parsed, axes)
    store = Store(None if out is None else Path(out), objective)
    run = _Run(grid, options, store, on_progress, should_stop)
    complete = run.to_the_end()
    settle(grid, run.points, objective)
    name: Literal["makespan", "span"] = "makespan" if chosen is Objective.MAKESPAN else "span"
    return Sweep(
        name=parsed.name,
        digest=spec_digest(parsed),
        objective=name,
        complete=complete,
        axes=[SweepAxis(name=axis.name, values=[plain(value) for value in axis.values]) for axis in grid.axes],
        points=[run.points[place] for place in sorted(run.points)],
        readings=readings_of(grid, run.points, parsed, tolerance),
    )


class _Run:
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
            if self._should_stop():
                self.points |= {there: point for there, point in old.items() if there not in self.points}
                return False
            began = time.monotonic()
            point = self._point(place, old.get(place), number)
            if point is None:
                self.points |= {there: point for there, point in old.items() if there not in self.points}
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
        options, bound_ms = self._options, known.lower_bound_ms
        reached = False
        stopped = False

        def on_progress(news: Progress) -> None:
            nonlocal reached
            value_ms = None if news.value_ns is None else to_ms(news.value_ns)
            if value_ms is not None and bound_ms is not None:
                reached = value_ms - bound_ms <= options.relative_gap * value_ms
            own_ms = None if news.bound_ns is None else to_ms(news.bound_ns)
            best_ms = max((one for one in (own_ms, bound_ms) if one is not None), default=None)
            gap = None if value_ms is None or best_ms is None or not value_ms else 1 - best_ms / value_ms
            update = {"value_ms": value_ms, "lower_bound_ms": best_ms, "gap": gap}
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


__all__ = ["SweepProgress", "sweep"]
