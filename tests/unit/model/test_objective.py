"""The objective variable is at least the makespan, or every device's span."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from tests.unit.model.draft import Draft, accepts

from crosspipe.model.objective import add_objective
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables


def _goal_at_most(limit: int, tail: int, model: CpModel, variables: Variables, ticks: Ticks) -> None:
    add_objective(model, variables, ticks, np.array([0, tail, 0, 0])[: len(ticks.duration)])
    model.add(variables.goal <= ticks.scale.ticks(limit))


def _two_devices() -> Draft:
    """An F of 4 on each of two devices and an extra operation of 3 on device 1."""
    draft = Draft([(0,), (1,)])
    draft.op(Kind.F, 0, 0, 4, 0)
    draft.op(Kind.F, 1, 0, 4, 1)
    draft.op(Kind.EXTRA, -1, 0, 3, 1)
    return draft


def test_a_makespan_below_the_last_end_is_cut() -> None:
    assert not accepts(_two_devices(), partial(_goal_at_most, 8, 0), [0, 5, 0])
    assert not accepts(_two_devices(), partial(_goal_at_most, 9, 0), [0, 0, 7])


def test_the_makespan_is_kept() -> None:
    assert accepts(_two_devices(), partial(_goal_at_most, 9, 0), [0, 5, 0])
    assert accepts(_two_devices(), partial(_goal_at_most, 10, 0), [0, 0, 7])


def test_a_tail_counts_after_the_end() -> None:
    assert not accepts(_two_devices(), partial(_goal_at_most, 10, 2), [0, 5, 0])
    assert accepts(_two_devices(), partial(_goal_at_most, 11, 2), [0, 5, 0])


def test_the_span_counts_from_the_first_start_of_compute_on_each_device() -> None:
    assert accepts(_two_devices(), partial(_goal_at_most, 4, 0), [0, 5, 0], Objective.SPAN)
    assert not accepts(_two_devices(), partial(_goal_at_most, 3, 0), [0, 5, 0], Objective.SPAN)


def test_a_device_with_several_operations_is_held_from_first_to_last() -> None:
    draft = Draft([(0,)])
    for _ in range(3):
        draft.op(Kind.F, 0, 0, 2, 0)
    draft.op(Kind.EXTRA, -1, 0, 20)
    assert not accepts(draft, partial(_goal_at_most, 9, 0), [3, 8, 11, 0], Objective.SPAN)
    assert accepts(draft, partial(_goal_at_most, 10, 0), [3, 8, 11, 0], Objective.SPAN)
