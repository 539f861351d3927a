"""Replicas on one link: is it better to merge their messages or to let them take turns, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from crosspipe.answer.free import MOST_COMPARED, SLACK_S
from crosspipe.answer.merged import follow, share_lanes
from crosspipe.answer.models import ReplicaMessages
from crosspipe.answer.units import to_ms
from crosspipe.bounds.best import lower_bound
from crosspipe.bounds.obstacles import obstacles
from crosspipe.families.registry import run_families
from crosspipe.problem.compile import compile_spec
from crosspipe.schedule.replicas import apart, first_of

if TYPE_CHECKING:
    from crosspipe.answer.merged import MergedFirst
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders
    from crosspipe.search.clock import Clock
    from crosspipe.search.incumbents import Candidate
    from crosspipe.search.options import SolveOptions
    from crosspipe.spec.model import Spec

SHARE = 0.5
"""Share of the time left that the greedy may take."""


def compare_messages(
    spec: Spec, best: Candidate, merged_first: MergedFirst, options: SolveOptions, clock: Clock
) -> ReplicaMessages | None:
    """Compare both ways of sharing a link on the placement of the best schedule.

    Parameters
    ----------
    spec
        The expanded spec.
    best
        The placement with the best schedule.
    merged_first
        What is known of merged messages where the search was for those apart.
    options, clock
        Of the solve; the comparison is left out where there is no time for it.
    """
    copies, problem, schedule = spec.parallel.data, best.problem, best.schedule
    if not isinstance(copies, int) or copies == 1 or schedule is None or best.value_ns is None or best.bound is None:
        return None
    merged_size = len(problem.operations) // problem.replicas
    left_s = 0.0 if clock.stopped else clock.left_s
    late = best.construction_s * (copies // problem.replicas) > max(SLACK_S, left_s) and not options.deterministic
    if not share_lanes(problem) or merged_size * copies > MOST_COMPARED or late:
        return None
    searched: Literal["merged", "separate"] = "separate" if problem.replicas > 1 else "merged"
    other = _other(spec, problem, searched)
    if other is None:
        return None
    turned = (apart if searched == "merged" else first_of)(problem, other, schedule.orders)
    told = _quickly(other, turned, options.objective, 0.0 if options.deterministic else SHARE * left_s)
    if told is None:
        return None
    own, before = (best.value_ns, best.bound.value_ns), merged_first.known.get(problem.traversal, told)
    told = min(told[0], before[0]), max(told[1], before[1])
    merged, separate = (own, told) if searched == "merged" else (told, own)
    return _told(searched, merged, separate)


def _told(
    searched: Literal["merged", "separate"], merged: tuple[int, int], separate: tuple[int, int]
) -> ReplicaMessages:
    smaller, larger = sorted((merged[0], separate[0]))
    better: Literal["merged", "separate", "equal"] = "equal"
    other_bound = 0
    if merged[0] < separate[0]:
        better, other_bound = "merged", separate[1]
    elif separate[0] < merged[0]:
        better, other_bound = "separate", merged[1]
    return ReplicaMessages(
        searched=searched,
        merged_ms=to_ms(merged[0]),
        merged_lower_bound_ms=to_ms(merged[1]),
        separate_ms=to_ms(separate[0]),
        separate_lower_bound_ms=to_ms(separate[1]),
        better=better,
        gain=1 - smaller / larger if larger else 0.0,
        proved=merged == separate and merged[0] == merged[1] if better == "equal" else other_bound > smaller,
    )


def _other(spec: Spec, problem: Problem, searched: Literal["merged", "separate"]) -> Problem | None:
    """Compile the same placement with the messages shared the other way."""
    mode = "merged" if searched == "separate" else "separate"
    parallel = spec.parallel.model_copy(update={"replica_messages": mode})
    problems = compile_spec(spec.model_copy(update={"parallel": parallel}), problem.digest)
    found = next((other for other in problems if other.traversal == problem.traversal), None)
    return None if found is None or obstacles(found) else found


def _quickly(problem: Problem, turned: Orders | None, objective: Objective, budget_s: float) -> tuple[int, int] | None:
    """Give a value that is reached and a bound, without search; None if nothing fits."""
    bound_ns = lower_bound(problem, objective).value_ns
    rows = run_families(problem, objective, budget_s, bound_ns)
    values = [row.value_ns for row in rows if row.value_ns is not None]
    if turned is not None and (followed := follow(problem, turned, objective)) is not None:
        values.append(followed[1])
    return (min(values), bound_ns) if values else None
