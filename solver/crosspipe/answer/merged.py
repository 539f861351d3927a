"""Replicas modelled apart: one pipeline with merged messages is searched first, and all replicas follow it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crosspipe.answer.judge import judge
from crosspipe.errors import NeverOpensError
from crosspipe.problem.compile import compile_spec
from crosspipe.schedule.measure import fits, makespan_ns, span_ns, value_ns
from crosspipe.schedule.replay import resolved
from crosspipe.schedule.replicas import apart
from crosspipe.schedule.timed import timed
from crosspipe.search.search import Start, search

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders, Schedule
    from crosspipe.search.clock import Clock
    from crosspipe.search.options import SolveOptions
    from crosspipe.spec.model import Spec

MERGED_SHARE = 0.4
"""Share of the time that goes to one pipeline of merged messages before its replicas are looked at apart."""


@dataclass(frozen=True, slots=True)
class MergedFirst:
    """What came of one pipeline with merged messages: schedules for replicas apart; value and bound by traversal."""

    starts: tuple[Start, ...] = ()
    known: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def share_lanes(problem: Problem) -> bool:
    """Whether messages of several replicas pass over one lane."""
    first = len(problem.devices)
    used = {lane for hop in problem.hops for lane in hop.lanes}
    if problem.replicas > 1:
        return any(problem.lanes[lane - first].replica is None for lane in used)
    return problem.merged_replicas > 1 and bool(used)


def search_merged(
    spec: Spec,
    problems: Sequence[Problem],
    options: SolveOptions,
    clock: Clock,
    should_stop: Callable[[], bool] | None,
) -> MergedFirst:
    """Search one pipeline with merged messages for a while, and let every replica follow what is found.

    One pipeline is far smaller than all of them, and where bandwidths tell times its best schedule is no worse apart.
    """
    if problems[0].replicas == 1 or not any(share_lanes(problem) for problem in problems) or clock.left_s == 0:
        return MergedFirst()
    limit_s = MERGED_SHARE * clock.left_s
    parallel = spec.parallel.model_copy(update={"replica_messages": "merged"})
    merged = compile_spec(spec.model_copy(update={"parallel": parallel}), problems[0].digest)
    found = search(merged, replace(options, time_limit_s=limit_s), should_stop=should_stop)
    starts: list[Start] = []
    known: dict[str, tuple[int, int]] = {}
    for candidate in found.board.candidates:
        places = [place for place, problem in enumerate(problems) if problem.traversal == candidate.problem.traversal]
        if candidate.schedule is None or candidate.value_ns is None or candidate.bound is None or not places:
            continue
        known[candidate.problem.traversal] = candidate.value_ns, candidate.bound.value_ns
        problem = problems[places[0]]
        orders = apart(candidate.problem, problem, candidate.schedule.orders)
        if orders is None:
            continue
        followed = follow(problem, orders, options.objective)
        if followed is not None:
            schedule, value = followed
            judge(problem, schedule, makespan_ns(schedule), span_ns(resolved(problem, orders), schedule))
            starts.append(Start(places[0], schedule, value, "merged replicas"))
    return MergedFirst(tuple(starts), known)


def follow(problem: Problem, orders: Orders, objective: Objective) -> tuple[Schedule, int] | None:
    """Time orders that come from messages shared the other way, and value them; None if limits are broken.

    A table may give one large message less time than as many small ones, so that the lane has closed for the last.
    """
    try:
        schedule = timed(problem, orders, objective)
    except NeverOpensError:
        return None
    whole = resolved(problem, orders)
    return (schedule, value_ns(whole, schedule, objective)) if fits(whole, schedule) else None
