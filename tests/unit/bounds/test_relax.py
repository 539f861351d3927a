"""Bounds hold whichever recompute options are taken."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import pytest
from tests.unit.bounds.specs import pipeline, split

from crosspipe.bounds.best import all_bounds, lower_bound
from crosspipe.bounds.choices import groups_of_cases
from crosspipe.bounds.relax import relaxed
from crosspipe.problem.problem import Objective, Problem


def optional(count: int, memory_mb: float | None = 8) -> Problem:
    stage: dict[str, Any] = split(2, 2, 2, activation_mb=4, retained_mb=1)
    stage["recompute_option"] = {"activation_mb": 1, "recompute_ms": 2}
    return pipeline([stage] * count, 6, memory_mb=memory_mb, latency_ms=1)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("objective", Objective)
def test_a_bound_with_open_choices_is_below_that_of_every_choice(count: int, objective: Objective) -> None:
    problem = optional(count)
    found = lower_bound(problem, objective).value_ns
    taken = chain.from_iterable(combinations(range(count), size) for size in range(count + 1))
    each = [lower_bound(problem.recompute(frozenset(some)), objective).value_ns for some in taken]
    assert found == min(each)


def test_cases_beat_the_relaxation() -> None:
    problem = optional(2)
    assert lower_bound(problem).value_ns > lower_bound(relaxed(problem)).value_ns


def test_choices_that_memory_forbids_do_not_count() -> None:
    """4 MB do not fit 3: both stages must recompute."""
    problem = optional(2, memory_mb=3)
    forced = problem.recompute(frozenset({0, 1}))
    assert lower_bound(problem).value_ns == lower_bound(forced).value_ns


def test_many_choices_are_taken_device_by_device() -> None:
    groups = list(groups_of_cases(optional(6)))
    assert [[sorted(case) for case in cases] for cases in groups] == [[[stage]] * 2 for stage in range(6)]


def test_decided_stages_keep_their_choice() -> None:
    problem = optional(2)
    decided = relaxed(problem, {0: True, 1: False})
    exact = problem.recompute(frozenset({0}))
    assert (decided.operations.duration_ns == exact.operations.duration_ns).all()
    assert (decided.holdings.amount == exact.holdings.amount).all()


def test_a_problem_without_choices_is_itself() -> None:
    problem = pipeline([split(1, 1, 1)], 1)
    assert relaxed(problem) is problem
    assert list(groups_of_cases(problem)) == []


def test_the_bound_of_cases_lists_them() -> None:
    problem = optional(1)
    listed = [bound.data["cases"] for bound in all_bounds(problem) if "cases" in bound.data]
    (cases,) = listed
    assert [stages for stages, _ in cases] == [[], [0]]  # type: ignore[attr-defined]
