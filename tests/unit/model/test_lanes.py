"""A lane serves one message at a time, and none while it is closed."""

from __future__ import annotations

import pytest
from tests.unit.model.draft import Draft, accepts

from crosspipe.model.lanes import add_lanes
from crosspipe.problem.links import Window
from crosspipe.problem.operations import Kind


def _two_messages(*windows: Window) -> Draft:
    draft = Draft([(0,), (1,)], [windows])
    draft.op(Kind.ACTIVATION, 0, 0, 3, draft.lane())
    draft.op(Kind.GRADIENT, 0, 0, 2, draft.lane())
    draft.op(Kind.F, 0, 0, 30, 0)
    return draft


def test_two_messages_at_a_time_are_cut() -> None:
    assert not accepts(_two_messages(), add_lanes, [0, 2, 0])


def test_one_message_after_the_other_is_kept_in_either_order() -> None:
    assert accepts(_two_messages(), add_lanes, [0, 3, 0])
    assert accepts(_two_messages(), add_lanes, [2, 0, 0])


@pytest.mark.parametrize("start", [3, 5, 7])
def test_a_message_in_a_closed_window_is_cut(start: int) -> None:
    assert not accepts(_two_messages(Window(5, 8, 0)), add_lanes, [start, 20, 0])


@pytest.mark.parametrize("start", [2, 8])
def test_a_message_that_ends_or_begins_at_the_edge_of_a_window_is_kept(start: int) -> None:
    assert accepts(_two_messages(Window(5, 8, 0)), add_lanes, [start, 20, 0])


def test_a_window_comes_back_every_period() -> None:
    draft = _two_messages(Window(5, 8, 0, 10))
    assert not accepts(draft, add_lanes, [14, 20, 0])
    assert accepts(draft, add_lanes, [12, 18, 0])


def test_a_lane_closed_for_ever_takes_nothing_more() -> None:
    draft = _two_messages(Window(6, None, 0))
    assert not accepts(draft, add_lanes, [0, 6, 0])
    assert accepts(draft, add_lanes, [0, 4, 0])


def test_a_slower_window_is_run_at_full_rate() -> None:
    assert accepts(_two_messages(Window(5, 8, 5)), add_lanes, [5, 20, 0])
