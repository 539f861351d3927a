"""For the span the operation before all others is held at 0, where schedules may slide."""

from __future__ import annotations

import numpy as np
from tests.unit.model.draft import Draft, accepts, one_after_the_other, pipeline, ticks_of

from crosspipe.model.anchor import add_anchor, anchor
from crosspipe.model.build import Built, build
from crosspipe.model.chains import chain_arcs
from crosspipe.model.precedence import precedence_arcs
from crosspipe.problem.problem import Kind, Objective, Window
from crosspipe.schedule.orders import Schedule


def _held(draft: Draft, objective: Objective) -> int | None:
    ticks = ticks_of(draft, objective)
    return anchor(ticks, precedence_arcs(ticks) + chain_arcs(ticks))


def test_a_later_start_is_cut_and_zero_is_kept() -> None:
    draft = Draft([(0,)])
    draft.op(Kind.F, 0, 0, 3, 0)
    draft.op(Kind.EXTRA, -1, 0, 20)
    assert not accepts(draft, lambda model, variables, _: add_anchor(model, variables, 0), [1, 0])
    assert accepts(draft, lambda model, variables, _: add_anchor(model, variables, 0), [0, 0])


def test_the_first_forward_comes_before_all_others() -> None:
    draft, ops = pipeline([(0,), (1,)], 2)
    assert _held(draft, Objective.SPAN) == ops[Kind.F, 0, 0]
    assert _held(draft, Objective.MAKESPAN) is None


def test_nothing_is_held_where_two_operations_may_come_first() -> None:
    draft, _ = pipeline([(0,), (1,)], 2)
    draft.op(Kind.EXTRA, -1, 0, 20)
    assert _held(draft, Objective.SPAN) is None


def test_nothing_is_held_where_windows_fix_the_time_of_day() -> None:
    draft, _ = pipeline([(0,), (1,)], 2, transfer=1, windows=(Window(3, 6, 0),))
    assert _held(draft, Objective.SPAN) is None


def test_a_hint_is_moved_with_it() -> None:
    draft, _ = pipeline([(0,), (1,)], 2)
    problem = draft.problem()
    known = one_after_the_other(problem, Objective.SPAN)
    late = Schedule(known.start_ns + 7, known.end_ns + 7, known.orders)
    built = build(problem, Objective.SPAN, late, 0, lambda: True)
    assert isinstance(built, Built)
    hinted = dict(zip(built.model.proto.solution_hint.vars, built.model.proto.solution_hint.values, strict=True))
    starts = [hinted[variable.index] for variable in built.variables.start]
    assert starts == built.ticks.scale.ticks_of(np.asarray(known.start_ns)).tolist()
