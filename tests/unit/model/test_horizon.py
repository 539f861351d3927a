"""How late any operation need ever end."""

from __future__ import annotations

from tests.unit.model.draft import Draft

from crosspipe.model.horizon import serial_horizon_ns
from crosspipe.problem.links import Window
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective


def _one_message(*windows: Window) -> Draft:
    draft = Draft([(0,), (1,)], [windows])
    first = draft.op(Kind.F, 0, 0, 10, 0)
    sent = draft.op(Kind.ACTIVATION, 0, 0, 4, draft.lane())
    last = draft.op(Kind.F, 1, 0, 20, 1)
    draft.after(first, sent)
    draft.after(sent, last, 7)
    draft.after(first, last, 3)
    return draft


def test_durations_and_the_largest_lag_before_each_operation() -> None:
    assert serial_horizon_ns(_one_message().problem(), Objective.MAKESPAN) == 34 + 7


def test_a_closed_window_is_waited_for_once() -> None:
    assert serial_horizon_ns(_one_message(Window(9, 30, 0)).problem(), Objective.MAKESPAN) == 41 + 30


def test_a_window_that_never_ends_is_not_waited_for() -> None:
    assert serial_horizon_ns(_one_message(Window(14, None, 0)).problem(), Objective.MAKESPAN) == 41 + 14


def test_a_slower_window_is_not_waited_for() -> None:
    assert serial_horizon_ns(_one_message(Window(9, 30, 1)).problem(), Objective.MAKESPAN) == 41


def test_each_message_may_wait_for_a_period() -> None:
    draft = _one_message(Window(0, 30, 0, 50))
    assert serial_horizon_ns(draft.problem(), Objective.MAKESPAN) == 41 + 50


def test_for_the_span_each_device_may_too() -> None:
    draft = _one_message(Window(0, 30, 0, 50))
    assert serial_horizon_ns(draft.problem(), Objective.SPAN) == 41 + (1 + 2) * 50
