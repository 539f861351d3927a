"""First fit on a lane."""

from __future__ import annotations

from crosspipe.families.slots import LaneSlots
from crosspipe.problem.links import Lane, Window


def lane(*windows: Window) -> LaneSlots:
    return LaneSlots(Lane("x/out", "x", None, 1, windows))


def test_messages_queue_one_after_another() -> None:
    slots = lane()
    assert slots.place(1, 0, 4) == (0, 4)
    assert slots.place(2, 1, 4) == (4, 8)
    assert slots.place(3, 20, 4) == (20, 24)
    assert slots.sequence() == [1, 2, 3]


def test_a_message_takes_the_earliest_gap_that_is_long_enough() -> None:
    slots = lane()
    slots.place(1, 0, 2)
    slots.place(2, 4, 2)
    slots.place(3, 9, 2)
    assert slots.place(4, 0, 3) == (6, 9)
    assert slots.place(5, 0, 2) == (2, 4)
    assert slots.place(6, 0, 1) == (11, 12)
    assert slots.sequence() == [1, 5, 2, 4, 3, 6]


def test_closed_windows_are_kept_free() -> None:
    slots = lane(Window(3, 10, 0))
    assert slots.place(1, 0, 4) == (10, 14)
    assert slots.place(2, 0, 3) == (0, 3)
    assert slots.place(3, 2, 2) == (14, 16)


def test_slower_windows_lengthen() -> None:
    slots = LaneSlots(Lane("x/out", "x", None, 2, (Window(0, 10, 1),)))
    assert slots.place(1, 0, 3) == (0, 6)
    assert slots.place(2, 0, 3) == (6, 11)


def test_a_lane_that_never_opens_again_takes_nothing() -> None:
    slots = lane(Window(5, None, 0))
    assert slots.place(1, 0, 5) == (0, 5)
    assert slots.place(2, 0, 1) is None
