"""One run of CP-SAT ends when it should and says what it found."""

from __future__ import annotations

import time

import pytest
from ortools.sat.python import cp_model
from tests.unit.model.draft import pipeline

from crosspipe.errors import InvalidModelError
from crosspipe.model.build import Built, build
from crosspipe.model.result import ModelLimits
from crosspipe.model.search import Found, deterministic_work, search
from crosspipe.problem.problem import Objective

ENDLESS = ModelLimits(3600)


def _hard() -> Built:
    """A wave on four devices with tight memory, too large to be proved in the time a test has."""
    draft, _ = pipeline([(0, 7), (1, 6), (2, 5), (3, 4)], 12, (20, 21, 15), 40, 8, (1, 1), 17)
    built = build(draft.problem(), Objective.MAKESPAN, None, 0, lambda: True)
    assert isinstance(built, Built)
    return built


def test_the_deadline_ends_a_run_that_would_not_end() -> None:
    built = _hard()
    began = time.monotonic()
    found = search(built.model, built.variables.start, ENDLESS, began + 1, 0)
    assert not found.proved
    assert time.monotonic() - began < 1 + 3 * 0.5


def test_the_caller_ends_a_run_whether_or_not_anything_was_found() -> None:
    built = _hard()
    began = time.monotonic()
    search(built.model, built.variables.start, ENDLESS, began + 3600, 0, should_stop=lambda: True)
    assert time.monotonic() - began < 30


def test_an_error_of_a_listener_ends_the_run_and_is_raised() -> None:
    built = _hard()

    def refuse(_: object) -> None:
        raise RuntimeError("the listener is gone")

    with pytest.raises(RuntimeError, match="the listener is gone"):
        search(built.model, built.variables.start, ENDLESS, time.monotonic() + 3600, 0, on_starts=refuse)


def test_an_error_of_the_one_who_is_asked_ends_the_run_and_is_raised() -> None:
    built = _hard()

    def refuse() -> bool:
        raise RuntimeError("nobody to ask")

    with pytest.raises(RuntimeError, match="nobody to ask"):
        search(built.model, built.variables.start, ENDLESS, time.monotonic() + 3600, 0, should_stop=refuse)


def _run(model: cp_model.CpModel, starts: list[cp_model.IntVar], *, presolve: bool = True) -> Found:
    return search(model, starts, ModelLimits(10), time.monotonic() + 10, 10, presolve=presolve)


@pytest.mark.parametrize("presolve", [True, False])
def test_a_model_without_solution_is_refuted(presolve: bool) -> None:
    model = cp_model.CpModel()
    start = model.new_int_var(0, 10, "")
    model.add(start > 10)
    found = _run(model, [start], presolve=presolve)
    assert found.refuted
    assert found.starts is None
    assert found.bound is None


def test_an_optimum_comes_with_its_bound() -> None:
    model = cp_model.CpModel()
    start = model.new_int_var(3, 10, "")
    model.minimize(start)
    found = _run(model, [start])
    assert (found.proved, found.bound) == (True, 3)
    assert found.starts is not None
    assert found.starts.tolist() == [3]


def test_a_model_that_cp_sat_refuses_is_our_fault() -> None:
    model = cp_model.CpModel()
    start = model.new_int_var(-(2**62), 2**62, "")
    model.minimize(2**40 * start)
    with pytest.raises(InvalidModelError, match="domain"):
        _run(model, [start])


def test_deterministic_work_grows_with_time_and_shrinks_with_size() -> None:
    assert deterministic_work(20, 500) == 2 * deterministic_work(10, 500)
    assert 0 < deterministic_work(10, 5000) < deterministic_work(10, 500) < 10


@pytest.mark.parametrize("deterministic", [True, False])
def test_the_last_solution_is_always_told(deterministic: bool) -> None:
    model = cp_model.CpModel()
    start = model.new_int_var(3, 10, "")
    model.minimize(start)
    told: list[int] = []
    limits = ModelLimits(10, deterministic=deterministic)
    search(model, [start], limits, time.monotonic() + 10, 10, on_starts=lambda starts: told.append(int(starts[0])))
    assert told[-1] == 3
