"""What the network costs: the same devices with free links, by known schedules and bounds alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.answer.models import FreeLinks
from crosspipe.answer.units import to_ms
from crosspipe.bounds.best import lower_bound
from crosspipe.families.registry import run_families
from crosspipe.problem.free import crosses_sites, free_links
from crosspipe.schedule.measure import value_ns
from crosspipe.schedule.replay import resolved
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.search.clock import Clock
    from crosspipe.search.incumbents import Candidate
    from crosspipe.search.options import SolveOptions

MOST_COMPARED = 20_000
"""Above this many operations nothing is compared: it costs as much as the construction."""

SLACK_S = 0.5
"""A comparison is made even after the time limit if it takes less than this."""


def compare_free_links(best: Candidate, options: SolveOptions, clock: Clock) -> FreeLinks | None:
    """Compare with free links, where that takes no more time than there is."""
    problem, value, schedule, objective = best.problem, best.value_ns, best.schedule, options.objective
    if value is None or schedule is None or not crosses_sites(problem) or len(problem.operations) > MOST_COMPARED:
        return None
    left_s = 0.0 if clock.stopped else clock.left_s
    if best.construction_s > max(SLACK_S, left_s) and not options.deterministic:
        return None
    free = free_links(problem)
    bound_ns = lower_bound(free, objective).value_ns
    # The schedule found for the real links keeps its orders on free ones, where it takes no longer.
    same_orders = timed(free, schedule.orders, objective)
    values = [value_ns(resolved(free, schedule.orders), same_orders, objective)]
    values += [row.value_ns for row in run_families(free, objective, 0.0, bound_ns) if row.value_ns is not None]
    fastest = min(values)
    return FreeLinks(
        value_ms=to_ms(fastest),
        lower_bound_ms=to_ms(bound_ns),
        cost=value / fastest - 1 if fastest else None,
    )
