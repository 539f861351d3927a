"""The best of all bounds for an objective.

Makespan: all bounds, with heads and tails of the whole schedule. Span: the span of a schedule is at least that of any
one device, and each bound that argues on one device holds for the time that device is held, once heads count from its
first start and tails to its last end of compute (`device_timing`); so device load, start-up, last forward and round
trip apply per device, and so does the load of any other device or lane in that time (`span_load.py`); energy, which
takes longer, is asked of one device only. The critical path of the whole schedule does not apply.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crosspipe.bounds.bound import Bound
from crosspipe.bounds.choices import groups_of_cases
from crosspipe.bounds.critical_path import critical_path
from crosspipe.bounds.device_load import device_load, lane_load
from crosspipe.bounds.energy import energy, span_energy
from crosspipe.bounds.graph import graph_of
from crosspipe.bounds.last_forward import last_forward
from crosspipe.bounds.memory_need import short_pools
from crosspipe.bounds.pipeline import stage_facts
from crosspipe.bounds.relax import relaxed
from crosspipe.bounds.round_trip import round_trip
from crosspipe.bounds.span_load import span_loads
from crosspipe.bounds.start_up import start_up
from crosspipe.bounds.timing import Timing, device_timing, timing
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crosspipe.bounds.choices import Case
    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.memory_need import Need
    from crosspipe.bounds.pipeline import StageFacts
    from crosspipe.problem.problem import Problem

MOST_ENERGY_OPERATIONS = 4000
"""Operations, those of all cases of recompute choices together, up to which the energy bound is worth its time."""

MOST_CELLS = 2 * 10**6
"""Operations x devices whose heads are computed in one sweep for the span."""


def lower_bound(problem: Problem, objective: Objective = Objective.MAKESPAN) -> Bound:
    """Find the best bound: no schedule of `problem`, whatever its open recompute choices, has a smaller value.

    Among equals a load of one operation comes last: it is a path that leads through the device by chance, and names
    it where the time goes elsewhere.

    Where no schedule exists at all any value would do; see `obstacles`.
    """
    return max(all_bounds(problem, objective), key=lambda bound: (bound.value_ns, bound.data.get("operations") != 1))


def all_bounds(problem: Problem, objective: Objective = Objective.MAKESPAN) -> tuple[Bound, ...]:
    """Every bound that applies; among equals the simplest argument stands first.

    With open recompute choices, also the weakest case of each group of cases (`choices.py`): its data hold under that
    case, `cases` lists the recomputed stages and the value of each, `arguments` the argument of every case of `stages`.
    """
    found = list(_bounds(relaxed(problem), objective, MOST_ENERGY_OPERATIONS))
    for cases in groups_of_cases(problem):
        # A choice for which memory cannot hold one microbatch is taken by no schedule.
        short = [short_pools(relaxed(problem, case)) for case in cases]
        bests = [None if s else _best(problem, objective, case) for case, s in zip(cases, short, strict=True)]
        known = [best for best in bests if best is not None]
        if known:
            weakest = min(known, key=_value)
            taken = [[stage for stage in case if case[stage]] for case in cases]
            by_case = [[some, b.value_ns] for some, b in zip(taken, bests, strict=True) if b is not None]
            arguments = [
                _no_room(problem, needs[0]) if best is None else _argument(best)
                for best, needs in zip(bests, short, strict=True)
            ]
            more = {"stages": list(cases[0]), "cases": by_case, "recomputed": taken, "arguments": arguments}
            found.append(replace(weakest, data=weakest.data | more))
    return tuple(found)


def _value(bound: Bound) -> int:
    return bound.value_ns


def _best(problem: Problem, objective: Objective, case: Case) -> Bound:
    most = MOST_ENERGY_OPERATIONS >> len(case)
    return max(_bounds(relaxed(problem, case), objective, most), key=_value)


def _argument(bound: Bound) -> dict[str, object]:
    return {"name": bound.name, "where": bound.where, "value_ns": bound.value_ns, "data": bound.data}


def _no_room(problem: Problem, need: Need) -> dict[str, object]:
    where = problem.resource_name(problem.pools[need.pool].device)
    return {
        "name": "no room",
        "where": where,
        "data": {"pool": need.pool, "microbatch": need.microbatch, "needs": need.amount},
    }


def _bounds(problem: Problem, objective: Objective, most: int) -> Iterator[Bound]:
    """Bound by every argument; by energy only up to `most` operations."""
    graph = graph_of(problem)
    facts = stage_facts(graph)
    if objective is Objective.SPAN:
        return _span_bounds(graph, facts, most)
    return _makespan_bounds(graph, facts, most)


def _makespan_bounds(graph: Graph, facts: Sequence[StageFacts], most: int) -> Iterator[Bound]:
    problem, times = graph.problem, timing(graph)
    devices = range(len(problem.devices))
    yield from _found(device_load(graph, times, device) for device in devices)
    yield from _found([critical_path(graph, times)])
    yield from _found(lane_load(graph, times, len(devices) + k) for k in range(len(problem.lanes)))
    yield from _memory_bounds(graph, times, facts)
    if len(problem.operations) <= most:
        yield from _found([energy(graph, times)])


def _span_bounds(graph: Graph, facts: Sequence[StageFacts], most: int) -> Iterator[Bound]:
    problem = graph.problem
    # Replicas are alike: the first one's devices say all there is to say.
    devices = [device for device in range(problem.devices_per_replica) if problem.devices[device].stages]
    at_once = max(1, MOST_CELLS // len(graph.durations))
    worst: tuple[int, int, Timing] | None = None
    for first in range(0, len(devices), at_once):
        group = devices[first : first + at_once]
        for device, times in zip(group, device_timing(graph, group), strict=True):
            found = [*_found([device_load(graph, times, device)]), *span_loads(graph, times, device)]
            found += _memory_bounds(graph, times, [fact for fact in facts if fact.device == device])
            yield from found
            value = max((bound.value_ns for bound in found), default=0)
            if worst is None or value > worst[0]:
                worst = value, device, times
    # Energy takes a while: for the device that is held longest as far as is known.
    if worst is not None and len(problem.operations) <= most:
        yield from _found([span_energy(graph, worst[2], worst[1])])


def _memory_bounds(graph: Graph, times: Timing, facts: Sequence[StageFacts]) -> Iterator[Bound]:
    yield from _found(last_forward(graph, times, fact) for fact in facts)
    yield from _found(start_up(graph, times, facts, pool) for pool in sorted({fact.pool for fact in facts}))
    yield from _found(round_trip(graph, times, fact) for fact in facts)


def _found(bounds: Iterable[Bound | None]) -> Iterator[Bound]:
    return (bound for bound in bounds if bound is not None)


__all__ = ["Bound", "all_bounds", "lower_bound"]
