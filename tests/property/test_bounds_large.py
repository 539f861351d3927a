"""On problems too large to solve, slower windows included: no bound above a schedule found, no obstacle before one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.bounds.specs import problem_of, split

from crosspipe.bounds.best import all_bounds
from crosspipe.bounds.obstacles import obstacles
from crosspipe.errors import DoesNotFitError
from crosspipe.families.greedy import greedy
from crosspipe.families.settings import Rule, Settings
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.timed import timed


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    p, chunks, wave = draw(st.integers(2, 6)), draw(st.sampled_from([1, 1, 2, 3])), draw(st.booleans())
    places = [d for c in range(chunks) for d in (range(p)[::-1] if wave and c % 2 else range(p))]
    held = draw(st.integers(1, 4))
    stage = split(
        *(draw(st.integers(2, 30)) for _ in range(3)),
        activation_mb=held,
        retained_mb=draw(st.integers(0, held)),
        backward_extra_mb=draw(st.sampled_from([0, 0, 1])),
        boundary_mb=draw(st.integers(1, 20)),
    )
    unlike = draw(st.sampled_from([1, 1, 2]))
    stages = [
        stage if s % unlike == 0 else stage | {"forward_ms": draw(st.integers(2, 30))} for s in range(len(places))
    ]
    links = [draw(windowed_links(f"d{a}", f"d{b}")) for a in range(p) for b in range(a)]
    return {
        "model": {"stages": stages},
        "training": {"microbatches": draw(st.integers(1, 12))},
        "parallel": {"tensor": 1, "pipeline": p, "data": 1},
        "sites": {f"d{d}": {"devices": 1, "memory_gb": (held + 1) * chunks * draw(room) / 1000} for d in range(p)},
        "links": links,
        "placement": {"map": [f"d{d}/0" for d in places]},
    }


room = st.sampled_from([1, 1.5, 2, 3, 6])
"""Capacity of a device over what one microbatch of all its stages takes."""


@st.composite
def windowed_links(draw: st.DrawFn, a: str, b: str) -> dict[str, Any]:
    link: dict[str, Any] = {"between": [a, b], "one_way_latency_ms": draw(st.integers(0, 60))}
    if draw(st.booleans()):
        return link
    link |= {"bandwidth_gbps": 8, "duplex": draw(st.sampled_from(["full", "half"]))}
    if draw(st.booleans()):
        link["slow_ms"] = [
            [start := draw(st.integers(0, 60)), start + draw(st.integers(1, 40)), draw(st.integers(1, 7))]
        ]
        link["closed_ms"] = [[start := draw(st.integers(0, 70)), start + draw(st.integers(1, 29))]]
        if draw(st.booleans()):
            link["period_ms"] = 100
    return link


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(specs(), st.sampled_from(Rule), st.sampled_from(Objective))
def test_no_bound_lies_above_a_schedule(spec: dict[str, Any], rule: Rule, objective: Objective) -> None:
    problem = problem_of(spec)
    found = obstacles(problem)
    try:
        schedule = timed(problem, greedy(problem, Settings(rule)), objective)
    except DoesNotFitError:
        assert found
        return
    assert fits(problem, schedule)
    assert found == ()
    value = value_ns(problem, schedule, objective)
    assert [bound for bound in all_bounds(problem, objective) if bound.value_ns > value] == []


@pytest.mark.parametrize("factor", [3, 7])
def test_scaling_all_times_scales_every_bound(factor: int) -> None:
    def bounds(scale: int, objective: Objective) -> list[int]:
        stage = split(2 * scale, 3 * scale, scale, activation_mb=3, retained_mb=1, boundary_mb=2 * scale)
        links = [
            {"between": [f"d{a}", f"d{a + 1}"], "one_way_latency_ms": 4 * scale, "bandwidth_gbps": 8}
            | {"closed_ms": [[5 * scale, 9 * scale]], "period_ms": 20 * scale}
            for a in range(3)
        ]
        spec = {
            "model": {"stages": [stage] * 4},
            "training": {"microbatches": 6},
            "parallel": {"tensor": 1, "pipeline": 4, "data": 1},
            "sites": {f"d{d}": {"devices": 1, "memory_gb": 0.009} for d in range(4)},
            "links": links,
        }
        return [bound.value_ns for bound in all_bounds(problem_of(spec), objective)]

    for objective in Objective:
        assert bounds(factor, objective) == [value * factor for value in bounds(1, objective)]
