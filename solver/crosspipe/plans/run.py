"""`plan`: the ways to lay out a training step on some sites, compared, with where their ranking changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crosspipe.answer.restore import SpecSource, parsed_spec
from crosspipe.plans.budget import Budget
from crosspipe.plans.candidates import MOST_SITES, candidates
from crosspipe.plans.compare import NO_TIME, Asking, Solved, best_of, compare
from crosspipe.plans.flips import AXES, Looked, deepen_all, look, rivals
from crosspipe.plans.models import Plan
from crosspipe.plans.rewrite import base_of
from crosspipe.plans.rows import row_of
from crosspipe.plans.words import worth_of
from crosspipe.search.options import SolveOptions, usable_cores
from crosspipe.spec.digest import spec_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.plans.models import BreakEven
    from crosspipe.plans.rewrite import Base
    from crosspipe.sweeps.models import SweepPoint


def plan(
    spec: SpecSource,
    *,
    time_limit_s: float = 60.0,
    seed: int = 0,
    workers: int | None = None,
    on_solve: Callable[[str], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Plan:
    """Compare the ways to lay out a training step: through the sites, in each of them, on some of them alone.

    Every arrangement does the same work per step and has a certified schedule. The value is the makespan. Around the
    best one, bandwidth, latency and memory are varied to find where another becomes faster.

    Parameters
    ----------
    spec
        The cluster spec.
    time_limit_s
        Seconds for everything together; 0 constructs only, without a limit on how long that takes.
    seed, workers
        As for `solve`.
    on_solve
        Called with what is being solved.
    should_stop
        Asked often; once true, what is known so far is returned.

    Raises
    ------
    SpecError
        If the spec is malformed, contradictory or too large.
    OptionError
        If an option is out of range.
    """
    cores = usable_cores() if workers is None else workers
    SolveOptions(time_limit_s=time_limit_s, seed=seed, workers=cores)
    parsed = parsed_spec(spec)
    budget, asking = Budget(time_limit_s, should_stop), Asking(seed, cores, on_solve)
    base = base_of(parsed)
    sites = list(parsed.sites)
    rows = compare(base, candidates(sites, base.data), asking, budget)
    rows, break_evens, complete = _break_evens(rows, asking, budget)
    best = best_of(rows)
    return Plan(
        name=parsed.name,
        digest=spec_digest(parsed),
        arrangements=[row_of(row) for row in rows],
        best=None if best is None else best.candidate.name,
        worth=worth_of(rows, len(sites)),
        break_evens=break_evens,
        notes=_notes(base, len(sites)),
        complete=complete and not budget.stopped and all(row.reason != NO_TIME for row in rows),
        time_limit_s=time_limit_s,
        seconds=round(budget.seconds, 3),
    )


def _break_evens(rows: list[Solved], asking: Asking, budget: Budget) -> tuple[list[Solved], list[BreakEven], bool]:
    """Look for all break-evens; what they come to know of the arrangements themselves may change which is the best."""
    while True:
        best = best_of(rows)
        if best is None:
            return rows, [], True
        found: list[Looked] = []
        pairs = [(axis, other.candidate.name) for other in rivals(best, rows) for axis in AXES]
        for number, (axis, name) in enumerate(pairs):
            mine, other = (_named(rows, one) for one in (best.candidate.name, name))
            looked = look(mine, other, axis, len(pairs) - number, asking, budget)
            found.append(looked)
            rows = _improved(rows, looked.at_one)
        deepen_all(found, budget)
        for looked in found:
            rows = _improved(rows, looked.at_one)
        now = best_of(rows)
        if now is None or now.candidate == best.candidate:
            return rows, [looked.told() for looked in found], all(looked.complete for looked in found)


def _named(rows: list[Solved], name: str) -> Solved:
    return next(row for row in rows if row.candidate.name == name)


def _improved(rows: list[Solved], at_one: dict[str, SweepPoint]) -> list[Solved]:
    """Take over better schedules and bounds; fastest first again."""
    better = [_better(row, at_one.get(row.candidate.name)) for row in rows]
    return sorted(better, key=lambda row: (row.value_ms is None, row.value_ms or 0.0))


def _better(row: Solved, point: SweepPoint | None) -> Solved:
    if point is None or point.answer is None or point.answer.devices == []:
        return row
    if (point.value_ms, point.lower_bound_ms) == (row.value_ms, row.bound_ms):
        return row
    return replace(row, answer=point.answer, reason=None)


def _notes(base: Base, sites: int) -> list[str]:
    """Say what holds for all arrangements."""
    notes = ["every arrangement does the same work per step; values are makespans"]
    if base.added:
        notes.append("gradients: {sharding: zero1} was added wherever there are several replicas")
    if not base.counted:
        notes.append(
            "sums of gradients are not counted (the measured model has no `weights_mb`): arrangements with copies in "
            "several sites take longer than told, and are never called the best"
        )
    if base.in_gpus:
        notes.append("degrees are chosen by rule: bounds hold for the tensor, pipeline and data shown")
    if sites > MOST_SITES:
        notes.append(f"{sites} sites: subsets were not compared, only all sites and each alone")
    return notes


__all__ = ["plan"]
