"""`improve`: known optima, proofs, refusals, and what it does with the time it is given."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.unit.model.draft import Draft, one_after_the_other, pipeline

from crosspipe.model import solve
from crosspipe.model.solve import ModelLimits, improve
from crosspipe.problem.links import Hop, Window
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.orders import Orders
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from collections.abc import Callable


LIMITS = ModelLimits(60, workers=2)


def _value(problem: Problem, orders: Orders | None, objective: Objective = Objective.MAKESPAN) -> int:
    assert orders is not None
    schedule = timed(problem, orders, objective)
    assert fits(problem, schedule)
    return value_ns(problem, schedule, objective)


def _tight() -> Problem:
    """Four devices, eight microbatches, F = B = W = 1, room for three on each device: 31 (golden memory_cap-03)."""
    draft, _ = pipeline([(0,), (1,), (2,), (3,)], 8, capacity=3)
    return draft.problem()


def test_a_known_optimum_is_found_and_proved() -> None:
    result = improve(_tight(), Objective.MAKESPAN, None, 0, LIMITS)
    assert (result.status, result.bound_ns) == ("optimal", 31)
    assert _value(_tight(), result.orders) == 31


def test_an_incumbent_is_improved_and_every_solution_is_told() -> None:
    problem = _tight()
    incumbent = one_after_the_other(problem, Objective.MAKESPAN)
    seen: list[Orders] = []
    bounds: list[int] = []
    result = improve(problem, Objective.MAKESPAN, incumbent, 24, LIMITS, seen.append, bounds.append)
    assert result.status == "optimal"
    values = [_value(problem, orders) for orders in seen]
    assert values == sorted(set(values), reverse=True)
    assert values[0] < value_ns(problem, incumbent, Objective.MAKESPAN)
    assert values[-1] == 31
    assert bounds == sorted(set(bounds))
    assert bounds[-1] == 31
    assert bounds[0] > 24


def test_an_incumbent_at_the_bound_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = _tight()
    incumbent = one_after_the_other(problem, Objective.MAKESPAN)
    monkeypatch.setattr("crosspipe.model.improvement.build", None)
    result = improve(problem, Objective.MAKESPAN, incumbent, int(incumbent.end_ns.max()), LIMITS)
    assert result.status == "optimal"
    assert result.orders is incumbent.orders


def test_an_incumbent_that_does_not_fit_is_refused() -> None:
    draft, _ = pipeline([(0,)], 2, capacity=1)
    problem = draft.problem()
    orders = Orders((np.array([0, 1, 2, 3, 4, 5]),))
    with pytest.raises(ValueError, match="memory limit"):
        improve(problem, Objective.MAKESPAN, timed(problem, orders, Objective.MAKESPAN), 0, LIMITS)


def test_an_optimal_incumbent_is_kept() -> None:
    problem = _tight()
    best = improve(problem, Objective.MAKESPAN, None, 0, LIMITS)
    assert best.orders is not None
    incumbent = timed(problem, best.orders, Objective.MAKESPAN)
    again = improve(problem, Objective.MAKESPAN, incumbent, 0, LIMITS)
    assert again.status == "optimal"
    assert again.orders is incumbent.orders


def test_the_span_leaves_out_what_the_makespan_counts() -> None:
    """A gather of 50 before the first forward: part of the makespan, and of no device's span."""
    draft, ops = pipeline([(0,), (1,)], 2, times=(2, 2, 2), lag=7)
    draft.after(draft.op(Kind.EXTRA, -1, 0, 50), ops[Kind.F, 0, 0])
    problem = draft.problem()
    span = improve(problem, Objective.SPAN, None, 0, LIMITS)
    makespan = improve(problem, Objective.MAKESPAN, None, 0, LIMITS)
    assert (span.status, makespan.status) == ("optimal", "optimal")
    assert _value(problem, span.orders, Objective.SPAN) == span.bound_ns
    assert span.bound_ns is not None
    assert makespan.bound_ns is not None
    assert span.bound_ns == makespan.bound_ns - 50


def test_the_span_is_exact_where_a_cycle_halves_it() -> None:
    """Two devices, two F each of 2, every F1 after both others' first by 3: a cycle through both gives a half unit."""
    unit = 1_000_000
    draft = Draft([(0,), (1,)])
    first = [draft.op(Kind.F, stage, 0, unit, stage) for stage in (0, 1)]
    last = [draft.op(Kind.B, stage, 0, unit, stage) for stage in (0, 1)]
    draft.after(first[0], last[1], 2 * unit)
    draft.after(first[1], last[0], 5 * unit)
    result = improve(draft.problem(), Objective.SPAN, None, 0, LIMITS)
    # The spans add up to at least (1 + 2 + 1) + (1 + 5 + 1) units: 5.5 each.
    assert (result.status, result.bound_ns) == ("optimal", 5_500_000)
    assert _value(draft.problem(), result.orders, Objective.SPAN) == 5_500_000


@pytest.mark.parametrize("capacity", [2, 5])
def test_memory_that_never_suffices_is_infeasible(capacity: int) -> None:
    """A wave whose device 0 needs 3 for each of its two stages."""
    draft, _ = pipeline([(0, 3), (1, 2)], 2, capacity=capacity, amounts=(3, 1))
    assert improve(draft.problem(), Objective.MAKESPAN, None, 0, LIMITS).status == "infeasible"


def test_a_deadline_that_cannot_be_met_is_infeasible() -> None:
    draft, ops = pipeline([(0,), (1,)], 2)
    best = improve(draft.problem(), Objective.MAKESPAN, None, 0, LIMITS).bound_ns
    assert best is not None
    for due, status in ((best - 1, "infeasible"), (best, "optimal")):
        draft.due = dict.fromkeys(ops.values(), due)
        assert improve(draft.problem(), Objective.MAKESPAN, None, 0, LIMITS).status == status


def test_a_message_that_never_fits_is_infeasible_only_after_a_second_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gap between the windows is one short of the transfer."""
    draft, _ = pipeline([(0,), (1,)], 1, lag=1, transfer=4, windows=(Window(3, 10, 0, 10),))
    problem = draft.problem()
    presolved: list[bool] = []
    search = solve.Improvement._search

    def watched(self: solve.Improvement, *arguments: object, **options: bool) -> object:
        presolved.append(options.get("presolve", True))
        return search(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(solve.Improvement, "_search", watched)
    assert improve(problem, Objective.MAKESPAN, None, 0, LIMITS).status == "infeasible"
    assert presolved == [True, False]


def test_a_wrong_infeasible_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    from crosspipe.model.search import Found, search

    def wrong(*arguments: object, presolve: bool = True, **options: object) -> Found:
        if presolve:
            return Found(refuted=True, starts=None, bound=None, proved=False, work=0.0)
        return search(*arguments, presolve=presolve, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("crosspipe.model.improvement.search", wrong)
    result = improve(_tight(), Objective.MAKESPAN, None, 0, LIMITS)
    assert result.status == "optimal"
    assert result.bound_ns == 31


def test_an_infeasible_model_never_takes_the_incumbent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    from crosspipe.model.search import Found

    refuted = Found(refuted=True, starts=None, bound=None, proved=False, work=0.0)
    monkeypatch.setattr("crosspipe.model.improvement.search", lambda *_, **__: refuted)
    incumbent = one_after_the_other(_tight(), Objective.MAKESPAN)
    result = improve(_tight(), Objective.MAKESPAN, incumbent, 24, LIMITS)
    assert (result.status, result.orders, result.bound_ns) == ("feasible", incumbent.orders, 24)


def test_two_devices_that_no_route_joins_are_infeasible() -> None:
    hop = Hop(0, Kind.ACTIVATION, 0, 1, missing=True)
    problem = replace(_tight(), hops=(hop,))
    assert improve(problem, Objective.MAKESPAN, None, 0, LIMITS).status == "infeasible"


def test_operations_that_wait_in_a_circle_are_infeasible() -> None:
    draft = Draft([(0,)])
    first, second = draft.op(Kind.F, 0, 0, 1, 0), draft.op(Kind.EXTRA, -1, 0, 1)
    draft.after(first, second)
    draft.after(second, first)
    assert improve(draft.problem(), Objective.MAKESPAN, None, 0, LIMITS).status == "infeasible"


ODD_NS = 1_000_000_007


@pytest.mark.parametrize("objective", list(Objective))
def test_times_beyond_the_largest_horizon_are_still_solved_to_the_nanosecond(objective: Objective) -> None:
    """F ODD, B ODD + 2, W ODD + 4, hop ODD + 6, as no smaller unit divides them."""
    draft, _ = pipeline([(0,), (1,)], 3, (ODD_NS, ODD_NS + 2, ODD_NS + 4), ODD_NS + 6, 2, (1, 1))
    problem = draft.problem()
    result = improve(problem, objective, None, 0, LIMITS)
    assert result.status == "optimal"
    assert _value(problem, result.orders, objective) == result.bound_ns


def test_a_relaxed_lane_gives_a_bound_and_no_claim() -> None:
    """At half the rate all the time a transfer of 4 takes 8; the model lets it take 4."""
    draft, _ = pipeline([(0,), (1,)], 1, lag=1, transfer=4, windows=(Window(0, None, 5),))
    problem = draft.problem()
    result = improve(problem, Objective.MAKESPAN, None, 0, LIMITS)
    assert result.status == "feasible"
    assert result.bound_ns == 5 + 2 * (4 + 1)
    assert _value(problem, result.orders) == 5 + 2 * (8 + 1)


def test_a_bound_beyond_the_relaxed_horizon_refutes_nothing() -> None:
    """The same, told its optimum of 23: one after the other at full rate all is done by 15."""
    draft, _ = pipeline([(0,), (1,)], 1, lag=1, transfer=4, windows=(Window(0, None, 5),))
    problem = draft.problem()
    result = improve(problem, Objective.MAKESPAN, None, 5 + 2 * (8 + 1), LIMITS)
    assert result.status == "optimal"
    assert _value(problem, result.orders) == result.bound_ns == 5 + 2 * (8 + 1)


def test_no_time_leaves_the_incumbent() -> None:
    incumbent = one_after_the_other(_tight(), Objective.MAKESPAN)
    result = improve(_tight(), Objective.MAKESPAN, incumbent, 3, ModelLimits(0))
    assert (result.status, result.orders, result.bound_ns) == ("feasible", incumbent.orders, 3)
    assert improve(_tight(), Objective.MAKESPAN, None, 3, ModelLimits(0)).status == "unknown"


def test_a_stop_before_the_start_is_obeyed() -> None:
    began = time.monotonic()
    result = improve(_tight(), Objective.MAKESPAN, None, 0, ModelLimits(3600), should_stop=lambda: True)
    assert result.status == "unknown"
    assert time.monotonic() - began < 30


def test_too_many_operations_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "MOST_OPERATIONS", 95)
    assert improve(_tight(), Objective.MAKESPAN, None, 7, LIMITS) == solve.ModelResult("unknown", None, 7)


def test_a_replay_that_reaches_the_bound_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    from crosspipe.model.search import search

    asked: list[bool] = []

    def watched(*arguments: object, should_stop: Callable[[], bool], **options: object) -> object:
        found = search(*arguments, should_stop=should_stop, **options)  # type: ignore[arg-type]
        asked.append(should_stop())
        return found

    monkeypatch.setattr("crosspipe.model.improvement.search", watched)
    assert improve(_tight(), Objective.MAKESPAN, None, 31, LIMITS).status == "optimal"
    assert asked == [True]


def test_a_gap_is_enough_where_one_is_asked_for() -> None:
    incumbent = one_after_the_other(_tight(), Objective.MAKESPAN)
    result = improve(_tight(), Objective.MAKESPAN, incumbent, 24, ModelLimits(60, 2, relative_gap=0.9))
    assert (result.status, result.orders) == ("feasible", incumbent.orders)


def _wave() -> Problem:
    draft, _ = pipeline([(0, 7), (1, 6), (2, 5), (3, 4)], 6, (20, 21, 15), 10, 8, (1, 1), 7)
    return draft.problem()


def test_deterministic_runs_agree_though_they_end_unproved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock must not end these runs, so they get an hour for very little work."""
    monkeypatch.setattr("crosspipe.model.improvement.deterministic_work", lambda *_: 0.05)
    problem = _wave()
    incumbent = one_after_the_other(problem, Objective.MAKESPAN)
    limits = ModelLimits(3600, workers=2, seed=3, deterministic=True)
    runs = [improve(problem, Objective.MAKESPAN, incumbent, 0, limits) for _ in range(2)]
    assert [run.status for run in runs] == ["feasible", "feasible"]
    assert runs[0].bound_ns == runs[1].bound_ns
    orders = [run.orders for run in runs]
    assert all(o is not None for o in orders)
    first, second = ([sequence.tolist() for sequence in o.sequences] for o in orders if o is not None)
    assert first == second
