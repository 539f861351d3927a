from __future__ import annotations

from crosspipe.search.clock import Clock


def test_time_left_counts_down_to_zero_and_no_further() -> None:
    clock = Clock(1000)
    assert 999 < clock.left_s <= 1000
    assert Clock(0).left_s == 0


def test_a_reserve_is_time_that_is_not_left() -> None:
    clock = Clock(1000)
    clock.reserve_s = 400
    assert 599 < clock.left_s <= 600
    clock.reserve_s = 2000
    assert clock.left_s == 0


def test_a_stop_request_is_remembered() -> None:
    answers = iter([False, True])
    clock = Clock(10, lambda: next(answers))
    assert not clock.asked_to_stop()
    assert clock.asked_to_stop()
    assert clock.asked_to_stop()  # the caller is not asked again
    assert clock.stopped


def test_without_a_caller_to_ask_nobody_stops() -> None:
    assert not Clock(10).asked_to_stop()
