"""Deadlines and heads and tails are the domains of the starts."""

from __future__ import annotations

import numpy as np
from ortools.sat.python import cp_model
from tests.unit.model.draft import Draft, accepts, ticks_of

from crosspipe.model.variables import make_variables
from crosspipe.problem.operations import Kind


def _due(due: int) -> Draft:
    draft = Draft([(0,)])
    draft.due = {draft.op(Kind.F, 0, 0, 3, 0): due}
    draft.op(Kind.EXTRA, -1, 0, 20)
    return draft


def test_an_end_after_the_deadline_is_cut() -> None:
    assert not accepts(_due(7), lambda *_: None, [5, 0])


def test_an_end_at_the_deadline_is_kept() -> None:
    assert accepts(_due(7), lambda *_: None, [4, 0])


def test_heads_and_tails_bound_the_starts() -> None:
    ticks = ticks_of(_due(100))
    model = cp_model.CpModel()
    variables = make_variables(model, ticks, np.array([5, 0]), np.array([10, 0]), (0, 23))
    assert variables is not None
    assert list(variables.start[0].proto.domain) == [5, 23 - 10 - 3]


def test_no_start_at_all_is_told() -> None:
    ticks = ticks_of(_due(2))
    nothing = np.zeros(2, dtype=np.int64)
    assert make_variables(cp_model.CpModel(), ticks, nothing, nothing, (0, 23)) is None


def test_an_objective_without_values_is_told() -> None:
    ticks = ticks_of(_due(100))
    nothing = np.zeros(2, dtype=np.int64)
    assert make_variables(cp_model.CpModel(), ticks, nothing, nothing, (24, 23)) is None
