"""The model on random small specs of every feature: with and without incumbent, scaled, and judged by the checker."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests.golden.compiled import compile_all
from tests.property.random_specs import random_spec, scaled, without_memory_limit

from crosspipe.checker.check import check
from crosspipe.checker.placed import Placed
from crosspipe.families.registry import run_families
from crosspipe.model.relax import relax_choices
from crosspipe.model.solve import ModelLimits, ModelResult, improve
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.schedule.orders import Orders, Schedule

SEEDS = range(30)
LIMITS = ModelLimits(time_s=2, workers=2)
"""Enough to prove most of them; what is not proved is still held to what holds then."""


@cache
def _problem(seed: int) -> Problem:
    """Give the first placement, no stage recomputed by choice."""
    return compile_all(random_spec(seed))[0].recompute(frozenset())


def _objective(seed: int) -> Objective:
    return Objective.SPAN if seed % 4 == 3 else Objective.MAKESPAN


@cache
def _alone(seed: int) -> ModelResult:
    return improve(_problem(seed), _objective(seed), None, 0, LIMITS)


def _schedule(problem: Problem, orders: Orders, objective: Objective) -> Schedule:
    """Time the orders and let the checker judge."""
    schedule = timed(problem, orders, objective)
    ops, names = problem.operations, {number: name for name, number in problem.extras}
    report = check(
        problem,
        [
            Placed(
                Kind(int(ops.kind[number])),
                int(ops.stage[number]),
                int(ops.microbatch[number]),
                int(ops.replica[number]),
                int(schedule.start_ns[number]),
                int(schedule.end_ns[number]),
                name=names.get(number),
            )
            for number in problem
        ],
    )
    assert report.violations == ()
    return schedule


@pytest.mark.parametrize("seed", SEEDS)
def test_an_answer_is_a_schedule_not_below_its_bound(seed: int) -> None:
    result, problem, objective = _alone(seed), _problem(seed), _objective(seed)
    assert (result.orders is None) == (result.status in ("infeasible", "unknown"))
    if result.orders is None:
        return
    value = value_ns(problem, _schedule(problem, result.orders, objective), objective)
    assert result.bound_ns is not None
    assert value >= result.bound_ns
    assert (value == result.bound_ns) == (result.status == "optimal")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_family_as_incumbent_changes_neither_optimum_nor_bound(seed: int) -> None:
    problem, objective = _problem(seed), _objective(seed)
    found = [family for family in run_families(problem, objective) if family.orders is not None]
    schedules = [timed(problem, family.orders, objective) for family in found if family.orders is not None]
    incumbent = next((schedule for schedule in schedules if fits(problem, schedule)), None)
    alone = _alone(seed)
    if incumbent is None:
        return
    assert alone.status != "infeasible"
    result = improve(problem, objective, incumbent, 0, LIMITS)
    assert result.orders is not None
    value = value_ns(problem, timed(problem, result.orders, objective), objective)
    assert value <= value_ns(problem, incumbent, objective)
    assert alone.bound_ns is not None
    assert value >= alone.bound_ns
    if alone.status == "optimal":
        assert result.bound_ns is not None
        assert result.bound_ns <= alone.bound_ns
        assert result.status != "optimal" or value == alone.bound_ns


@pytest.mark.parametrize("seed", [seed for seed in SEEDS[::2] if not _problem(seed).robust])
def test_times_a_thousand_times_as_long_take_a_thousand_times_as_long(seed: int) -> None:
    alone, objective = _alone(seed), _objective(seed)
    problem = compile_all(scaled(random_spec(seed), 1009))[0].recompute(frozenset())
    result = improve(problem, objective, None, 0, LIMITS)
    if "unknown" in (alone.status, result.status) or alone.bound_ns is None or result.bound_ns is None:
        return
    if alone.status == "optimal" and objective is Objective.MAKESPAN:
        assert result.bound_ns <= 1009 * alone.bound_ns
    if alone.status == result.status == "optimal" and objective is Objective.MAKESPAN:
        assert result.bound_ns == 1009 * alone.bound_ns


@pytest.mark.parametrize("seed", SEEDS[1::2])
def test_memory_without_end_never_hurts(seed: int) -> None:
    alone, objective = _alone(seed), _objective(seed)
    problem = compile_all(without_memory_limit(random_spec(seed)))[0].recompute(frozenset())
    result = improve(problem, objective, None, 0, LIMITS)
    if alone.orders is not None and result.status == "optimal":
        assert result.bound_ns is not None
        assert result.bound_ns <= value_ns(_problem(seed), timed(_problem(seed), alone.orders, objective), objective)


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if compile_all(random_spec(seed))[0].choices])
def test_relaxed_choices_bound_every_choice(seed: int) -> None:
    problem, objective = compile_all(random_spec(seed))[0], _objective(seed)
    bound = improve(relax_choices(problem), objective, None, 0, LIMITS)
    for taken in (frozenset(), frozenset(choice.stage for choice in problem.choices)):
        result = improve(problem.recompute(taken), objective, None, 0, LIMITS)
        if result.orders is not None:
            value = value_ns(problem, timed(problem.recompute(taken), result.orders, objective), objective)
            assert bound.bound_ns is not None
            assert bound.bound_ns <= value


def test_most_of_them_are_settled() -> None:
    settled = [seed for seed in SEEDS if _alone(seed).status in ("optimal", "infeasible")]
    assert len(settled) >= 0.8 * len(SEEDS)
