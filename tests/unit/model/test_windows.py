"""Closed intervals of a lane up to a horizon."""

from __future__ import annotations

from crosspipe.model.windows import MOST_WINDOWS, closed_ns
from crosspipe.problem.links import Lane, Window


def _closed(*windows: Window, horizon_ns: int = 100, shortest_ns: int = 1) -> tuple[tuple[int, int], ...] | None:
    return closed_ns(Lane("a-b/out", "a-b", None, 10, windows), horizon_ns, shortest_ns)


def test_periods_are_written_out_up_to_the_horizon() -> None:
    assert _closed(Window(5, 15, 0, 40)) == ((5, 15), (45, 55), (85, 95))
    assert _closed(Window(5, 15, 0, 40), horizon_ns=50) == ((5, 15), (45, 50))


def test_windows_that_overlap_or_touch_are_one() -> None:
    assert _closed(Window(30, 40, 0), Window(5, 20, 0), Window(15, 30, 0)) == ((5, 40),)


def test_windows_too_near_for_any_transfer_are_one() -> None:
    assert _closed(Window(0, 37, 0, 40), horizon_ns=80, shortest_ns=4) == ((0, 77),)
    assert _closed(Window(0, 36, 0, 40), horizon_ns=80, shortest_ns=4) == ((0, 36), (40, 76))


def test_what_never_ends_ends_at_the_horizon() -> None:
    assert _closed(Window(30, None, 0)) == ((30, 100),)


def test_what_begins_after_the_horizon_is_left_out() -> None:
    assert _closed(Window(100, 120, 0)) == ()


def test_slower_windows_are_not_closed() -> None:
    assert _closed(Window(5, 15, 3)) == ()


def test_too_many_windows_are_not_modelled() -> None:
    assert _closed(Window(0, 1, 0, 3), horizon_ns=3 * MOST_WINDOWS + 3) is None
