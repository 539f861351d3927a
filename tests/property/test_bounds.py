"""No bound lies above the proved optimum, and no obstacle stands before a problem that has a schedule.

Random small specs, half of them with memory that binds and half with lanes, are solved to proof by a plain model that
assumes no order at all: interval per operation, one at a time per resource, amounts held as intervals in time.
"""

from __future__ import annotations

from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model
from tests.unit.bounds.specs import problems_of

from crosspipe.bounds.best import all_bounds
from crosspipe.bounds.obstacles import obstacles
from crosspipe.problem.operations import NO_DEADLINE
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosspipe.problem.links import Window
    from crosspipe.problem.problem import Problem

UNIT = 10**6
"""All times and sizes drawn are whole ms and MB."""


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    devices = draw(st.integers(1, 3))
    chunks = draw(st.sampled_from([1, 1, 2])) if devices > 1 else draw(st.integers(1, 2))
    wave = draw(st.booleans())
    places = [d for c in range(chunks) for d in (range(devices)[::-1] if wave and c % 2 else range(devices))]
    count = len(places)
    like = draw(st.booleans())
    frozen = draw(st.sampled_from([0, 0, 0, 1])) if count > 1 else 0
    first = draw(stages())
    stages_drawn = [first if like else draw(stages()) for _ in range(count)]
    stages_drawn = [freeze(stage) if s < frozen else stage for s, stage in enumerate(stages_drawn)]
    most = 4 if count <= 2 else 3 if count <= 4 else 2
    replicas = draw(st.sampled_from([1, 1, 1, 2])) if count <= 2 else 1
    microbatches: Any = draw(st.integers(1, most if replicas == 1 else 2))
    if draw(st.integers(0, 3)) == 0:
        multipliers = draw(st.lists(st.integers(1, 3), min_size=1, max_size=min(most, 3)))
        microbatches = {"multipliers": multipliers, "order": draw(st.sampled_from(["free", "fixed"]))}
    spec: dict[str, Any] = {
        "model": {"stages": stages_drawn},
        "training": {"microbatches": microbatches},
        "parallel": {"tensor": 1, "pipeline": devices, "data": replicas, "replica_messages": "separate"},
        "sites": {f"s{d}": {"devices": 1, "memory_gb": draw(capacities())} for d in range(devices)},
        "links": [draw(links(f"s{d}", f"s{e}")) for d in range(devices) for e in range(d)],
        "placement": {"map": [f"s{d}/0" for d in places]},
        "extra_operations": draw(extras(frozen, count)),
        "limits": {},
    }
    if draw(st.integers(0, 4)) == 0:
        spec["limits"]["in_flight"] = draw(st.integers(1, 3))
    if draw(st.integers(0, 4)) == 0:
        spec["limits"]["deadline_ms"] = draw(st.integers(10, 60))
    if draw(st.integers(0, 4)) == 0:
        spec["limits"]["stage_deadlines_ms"] = {str(draw(st.integers(0, count - 1))): draw(st.integers(5, 40))}
    return spec


@st.composite
def stages(draw: st.DrawFn) -> dict[str, Any]:
    activation = draw(st.integers(0, 4))
    stage: dict[str, Any] = {"forward_ms": draw(st.integers(1, 4)), "activation_mb": activation}
    kind = draw(st.sampled_from(["split", "split", "split", "combined", "input only"]))
    if kind == "combined":
        stage["backward_ms"] = draw(st.integers(1, 6))
    else:
        stage["backward_input_ms"] = draw(st.integers(0, 4))
        if kind == "split":
            stage["backward_weight_ms"] = draw(st.integers(0, 4))
            stage["retained_mb"] = draw(st.integers(0, activation))
    stage["backward_extra_mb"] = draw(st.sampled_from([0, 0, 0, 1, 2]))
    stage["static_mb"] = draw(st.sampled_from([0, 0, 3]))
    stage["boundary_mb"] = draw(st.integers(0, 3))
    stage["gradient_mb"] = draw(st.integers(0, 3))
    if draw(st.integers(0, 5)) == 0:
        stage["recompute_option"] = {"activation_mb": draw(st.integers(0, 2)), "recompute_ms": draw(st.integers(0, 3))}
    return stage


def freeze(stage: dict[str, Any]) -> dict[str, Any]:
    kept = ("forward_ms", "activation_mb", "static_mb", "boundary_mb", "gradient_mb")
    return {key: stage[key] for key in kept} | {"frozen": True}


def capacities() -> st.SearchStrategy[float | None]:
    """No limit, or 1 to 16 MB: a microbatch takes up to 4, so that most of these bind."""
    return st.one_of(st.none(), st.integers(1, 16).map(lambda mb: mb / 1000))


@st.composite
def links(draw: st.DrawFn, a: str, b: str) -> dict[str, Any]:
    link: dict[str, Any] = {"between": [a, b], "one_way_latency_ms": draw(st.integers(0, 4))}
    if draw(st.booleans()):
        return link
    link |= {"bandwidth_gbps": 8, "duplex": draw(st.sampled_from(["full", "half"])), "per_replica": draw(st.booleans())}
    windows = draw(st.sampled_from(["none", "none", "once", "for ever", "repeating"]))
    if windows == "once":
        start = draw(st.integers(0, 12))
        link["closed_ms"] = [[start, start + draw(st.integers(1, 12))]]
    elif windows == "for ever":
        link["closed_ms"] = [[draw(st.integers(0, 40)), None]]
    elif windows == "repeating":
        period = draw(st.integers(3, 12))
        start = draw(st.integers(0, period - 1))
        link |= {"period_ms": period, "closed_ms": [[start, draw(st.integers(start + 1, period))]]}
    return link


@st.composite
def extras(draw: st.DrawFn, frozen: int, count: int) -> list[dict[str, Any]]:
    found = []
    for number in range(draw(st.sampled_from([0, 0, 1, 2]))):
        side = draw(st.sampled_from(["after", "before"]))
        chosen = st.lists(st.integers(frozen if side == "after" else 0, count - 1), min_size=1, max_size=2, unique=True)
        extra: dict[str, Any] = {"name": f"extra {number}", "duration_ms": draw(st.integers(1, 5)), side: draw(chosen)}
        if draw(st.booleans()):
            extra["device"] = "s0/0"
        found.append(extra)
    return found


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(specs())
def test_bounds_and_obstacles_against_the_proved_optimum(spec: dict[str, Any]) -> None:
    (problem,) = problems_of(spec)
    found = obstacles(problem)
    for objective in Objective:
        optimum = proved_optimum(problem, objective)
        if optimum is None:
            continue
        assert not found, (optimum, found)
        for bound in all_bounds(problem, objective):
            assert bound.value_ns <= optimum * UNIT, (optimum, bound)


def proved_optimum(problem: Problem, objective: Objective) -> int | None:
    """The best over all recompute choices, in whole ms; None if no choice has a schedule."""
    stages = [choice.stage for choice in problem.choices]
    taken = chain.from_iterable(combinations(stages, size) for size in range(len(stages) + 1))
    values = [_solved(problem.recompute(frozenset(some)), objective) for some in taken]
    return min((value for value in values if value is not None), default=None)


def _solved(problem: Problem, objective: Objective) -> int | None:
    ops, model = problem.operations, cp_model.CpModel()
    durations = [whole(d) for d in ops.duration_ns]
    # Run one after the other, operations wait for single windows once and for repeating ones a period each.
    windows = [w for lane in problem.lanes for w in lane.windows]
    once = max([whole(w.end_ns or w.start_ns) for w in windows if w.period_ns is None], default=0)
    period = max([whole(w.period_ns or 0) for w in windows], default=0)
    horizon = sum(durations) + sum(map(whole, problem.precedences.lag_ns)) + once + period * len(durations)
    start = [model.new_int_var(0, horizon, "") for _ in durations]
    busy = [model.new_fixed_size_interval_var(start[i], durations[i], "") for i in range(len(durations))]
    end = [start[i] + durations[i] for i in range(len(durations))]
    given = problem.precedences
    for before, after, lag in zip(given.before, given.after, given.lag_ns, strict=True):
        model.add(start[after] >= end[before] + whole(lag))
    for resource, rows in enumerate(problem.by_resource):
        taken = [busy[i] for i in rows]
        if (lane := resource - len(problem.devices)) >= 0 and len(rows):
            taken += [
                model.new_fixed_size_interval_var(low, high - low, "")
                for low, high in closed(problem.lanes[lane].windows, horizon + max(durations))
            ]
        model.add_no_overlap(taken)
    for number, pool in enumerate(problem.pools):
        if pool.capacity is None:
            continue
        rows = np.flatnonzero((problem.holdings.pool == number) & (problem.holdings.amount > 0))
        held = []
        for row in rows:
            low, high = start[problem.holdings.taken_by[row]], end[problem.holdings.given_by[row]]
            size = model.new_int_var(0, horizon + max(durations), "")
            held.append(model.new_interval_var(low, size, high, ""))
        amounts = [int(problem.holdings.amount[row]) for row in rows]
        model.add_cumulative(
            [*held, model.new_fixed_size_interval_var(0, 1, "")], [*amounts, 0], pool.capacity - pool.base
        )
        if pool.base > pool.capacity:
            return None
    if problem.chains_required:
        for row in problem.chains:
            for i, j in pairwise(row):
                model.add(start[i] <= start[j])
    if problem.due_ns is not None:
        for i, due in enumerate(problem.due_ns.tolist()):
            if due != NO_DEADLINE:
                model.add(end[i] <= whole(due))
    value = model.new_int_var(0, 2 * horizon, "")
    if objective is Objective.MAKESPAN:
        model.add_max_equality(value, end)
    else:
        for device in range(len(problem.devices)):
            rows = [i for i in problem.by_resource[device] if ops.kind[i] <= 3]
            if rows:
                first, last = model.new_int_var(0, horizon, ""), model.new_int_var(0, 2 * horizon, "")
                model.add_min_equality(first, [start[i] for i in rows])
                model.add_max_equality(last, [end[i] for i in rows])
                model.add(value >= last - first)
    model.minimize(value)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = 20
    status = solver.solve(model)
    if status == cp_model.OPTIMAL:
        return round(solver.objective_value)
    assert status == cp_model.INFEASIBLE, "the plain model must prove what it says"
    return None


def closed(windows: Iterable[Window], until: int) -> list[tuple[int, int]]:
    """Closed intervals up to a time, joined where they touch or overlap."""
    edges: list[tuple[int, int]] = []
    for window in windows:
        low, high = whole(window.start_ns), until if window.end_ns is None else whole(window.end_ns)
        period = whole(window.period_ns or 0)
        edges += (
            [(k * period + low, k * period + high) for k in range(until // period + 1)] if period else [(low, high)]
        )
    joined: list[tuple[int, int]] = []
    for low, high in sorted((low, high) for low, high in edges if low < high):
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], high)
        else:
            joined.append((low, high))
    return joined


def whole(amount: int) -> int:
    assert amount % UNIT == 0
    return int(amount) // UNIT
