"""For the span the operation before all others is held early, where schedules may slide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from ortools.sat.python import cp_model
from tests.unit.model.draft import Draft, accepts, one_after_the_other, pipeline, ticks_of

from crosspipe.model.anchor import Anchor, add_anchor, find_anchor
from crosspipe.model.arcs import forward_order
from crosspipe.model.build import Built, build
from crosspipe.model.chains import chain_arcs
from crosspipe.model.precedence import precedence_arcs
from crosspipe.problem.links import Window
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import fits
from crosspipe.schedule.orders import Schedule

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables


def _found(draft: Draft, objective: Objective = Objective.SPAN) -> Anchor | None:
    ticks = ticks_of(draft, objective)
    arcs = precedence_arcs(ticks) + chain_arcs(ticks)
    return find_anchor(ticks, arcs, forward_order(len(ticks.duration), arcs))


def _anchor(latest_ns: int, first: tuple[int, ...] = (0,)) -> Anchor:
    return Anchor(first, latest_ns, 0, 1, alone=True)


def _two_forwards() -> Draft:
    draft = Draft([(0,), (1,)])
    draft.op(Kind.F, 0, 0, 3, 0)
    draft.op(Kind.F, 1, 0, 3, 1)
    draft.op(Kind.EXTRA, -1, 0, 20)
    return draft


@pytest.mark.parametrize("latest", [0, 4])
def test_a_later_start_is_cut_and_the_latest_is_kept(latest: int) -> None:
    def add(model: CpModel, variables: Variables, ticks: Ticks) -> None:
        add_anchor(model, variables, ticks, _anchor(latest))

    assert not accepts(_two_forwards(), add, [latest + 1, 0, 0])
    assert accepts(_two_forwards(), add, [latest, 9, 0])


def test_of_several_that_may_be_first_one_has_to_be() -> None:
    def add(model: CpModel, variables: Variables, ticks: Ticks) -> None:
        add_anchor(model, variables, ticks, _anchor(4, (0, 1)))

    assert not accepts(_two_forwards(), add, [5, 6, 0])
    assert accepts(_two_forwards(), add, [5, 4, 0])


def test_the_first_forward_comes_before_all_others() -> None:
    draft, ops = pipeline([(0,), (1,)], 2)
    assert _found(draft) == Anchor((ops[Kind.F, 0, 0],), 0, 0, 1, alone=True)
    assert _found(draft, Objective.MAKESPAN) is None


def test_where_microbatches_may_come_in_any_order_any_may_be_first() -> None:
    draft, ops = pipeline([(0,), (1,)], 2)
    draft.multipliers = ("1", "2")
    assert _found(draft) == Anchor((ops[Kind.F, 0, 0], ops[Kind.F, 0, 1]), 0, 0, 1, alone=True)


def test_what_waits_for_no_compute_is_done_before_it() -> None:
    """A gather of 20 before the first forward, 5 on the way, and one of 30 that nothing waits for."""
    draft, ops = pipeline([(0,), (1,)], 2)
    gather = draft.op(Kind.EXTRA, -1, 0, 20)
    draft.after(gather, ops[Kind.F, 0, 0], 5)
    draft.op(Kind.EXTRA, -1, 0, 30)
    assert _found(draft) == Anchor((ops[Kind.F, 0, 0],), 55, 0, 1, alone=False)
    draft.due = {gather: 100}
    assert _found(draft) is None


@pytest.mark.parametrize(
    ("windows", "edge_ns", "period_ns"),
    [
        ((Window(3, 6, 0),), 6, 1),
        ((Window(3, 6, 0, 10),), 0, 10),
        ((Window(3, 6, 0, 10), Window(2, 9, 0), Window(1, 2, 0, 4)), 9, 20),
        ((Window(3, 60, 5),), 0, 1),
    ],
)
def test_windows_leave_it_room_to_slide(windows: tuple[Window, ...], edge_ns: int, period_ns: int) -> None:
    draft, ops = pipeline([(0,), (1,)], 2, transfer=1, windows=windows)
    latest_ns = edge_ns + period_ns - 1
    assert _found(draft) == Anchor((ops[Kind.F, 0, 0],), latest_ns, edge_ns, period_ns, alone=True)


@pytest.mark.parametrize(("start_ns", "moved_ns"), [(0, 0), (4, 0), (12, 0), (13, 10), (32, 20), (33, 30)])
def test_a_schedule_moves_by_whole_periods_down_to_the_edge(start_ns: int, moved_ns: int) -> None:
    anchor = Anchor((0,), 12, 3, 10, alone=True)
    assert anchor.moved_ns(np.array([start_ns, 99])) == moved_ns
    assert anchor.holds(np.array([start_ns, 99]))


def test_a_schedule_with_something_before_it_is_not_moved_and_may_not_hold() -> None:
    anchor = Anchor((1,), 12, 3, 10, alone=False)
    assert anchor.moved_ns(np.array([0, 33])) == 0
    assert not anchor.holds(np.array([0, 33]))
    assert anchor.holds(np.array([0, 12]))


def test_an_incumbent_that_does_not_hold_is_kept_and_the_anchor_dropped() -> None:
    draft, ops = pipeline([(0,), (1,)], 2)
    draft.after(draft.op(Kind.EXTRA, -1, 0, 20), ops[Kind.F, 0, 0])
    problem = draft.problem()
    known = one_after_the_other(problem, Objective.SPAN)
    late = Schedule(known.start_ns + 7, known.end_ns + 7, known.orders)
    built = build(problem, Objective.SPAN, late, 0, lambda: True)
    assert isinstance(built, Built)
    assert cp_model.CpSolver().solve(built.model) == cp_model.OPTIMAL


@pytest.mark.parametrize("windows", [(), (Window(3, 6, 0, 10),)])
def test_a_hint_is_moved_with_it(windows: tuple[Window, ...]) -> None:
    draft, _ = pipeline([(0,), (1,)], 2, transfer=1, windows=windows)
    problem = draft.problem()
    known = one_after_the_other(problem, Objective.SPAN)
    late = Schedule(known.start_ns + 30, known.end_ns + 30, known.orders)
    assert fits(problem, late)
    built = build(problem, Objective.SPAN, late, 0, lambda: True)
    assert isinstance(built, Built)
    hinted = dict(zip(built.model.proto.solution_hint.vars, built.model.proto.solution_hint.values, strict=True))
    starts = [hinted[variable.index] for variable in built.variables.start]
    assert starts == built.ticks.scale.ticks_of(np.asarray(known.start_ns)).tolist()
