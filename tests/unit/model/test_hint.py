"""The incumbent is a complete and feasible hint: the solver's own log says so."""

from __future__ import annotations

import time

import pytest
from tests.unit.model.draft import one_after_the_other, pipeline

from crosspipe.model.build import Built, build
from crosspipe.model.result import ModelLimits
from crosspipe.model.search import search
from crosspipe.problem.links import Window
from crosspipe.problem.problem import Objective, Problem

ODD_NS = 333_333_337
"""No divisor in common with its neighbours, and long enough for a horizon beyond what CP-SAT is trusted with."""


def _exact() -> Problem:
    windows = (Window(0, 7_000_000, 0, 40_000_000),)
    times = (3_000_000, 4_000_000, 2_000_000)
    draft, _ = pipeline([(0,), (1,)], 4, times, 5_000_000, 3, (2, 1), 1_000_000, windows)
    return draft.problem()


def _coarse() -> Problem:
    draft, _ = pipeline([(0,), (1,)], 4, (ODD_NS, ODD_NS + 1, ODD_NS - 1), ODD_NS + 7, 3, (2, 1), ODD_NS - 5)
    return draft.problem()


def _slower() -> Problem:
    """A window at half the rate: the incumbent's transfers there take longer than the model's."""
    windows = (Window(0, 30_000_000, 5),)
    times = (3_000_000, 4_000_000, 2_000_000)
    draft, _ = pipeline([(0,), (1,)], 4, times, 5_000_000, 3, (2, 1), 1_000_000, windows)
    return draft.problem()


@pytest.mark.parametrize("objective", list(Objective))
@pytest.mark.parametrize("problem", [_exact(), _coarse(), _slower()], ids=["exact", "coarse", "slower"])
def test_the_log_says_complete_and_feasible(problem: Problem, objective: Objective) -> None:
    built = build(problem, objective, one_after_the_other(problem, objective), 0, lambda: True)
    assert isinstance(built, Built)
    lines: list[str] = []
    search(built.model, built.variables.start, ModelLimits(10), time.monotonic() + 10, 10, on_log=lines.append)
    assert "The solution hint is complete and is feasible." in "".join(lines)


def test_only_the_odd_problem_is_coarse() -> None:
    scales = [build(p, Objective.MAKESPAN, None, 0, lambda: True) for p in (_exact(), _coarse())]
    assert [built.ticks.scale.exact for built in scales if isinstance(built, Built)] == [True, False]
