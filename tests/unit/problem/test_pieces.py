"""Pieces of a lane, and latest starts, beside the calendar."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.problem.lanes_with_windows import windowed_lanes

from crosspipe.problem.calendar import LaneCalendar
from crosspipe.problem.links import Lane, Window
from crosspipe.problem.pieces import MOST_PIECES, latest_start_ns, pieces_of


def test_pieces_of_a_window_that_repeats_go_on_up_to_their_number_and_then_stay_open() -> None:
    pieces = pieces_of(Lane("l", "l", None, 8, (Window(3, 5, 0, 10), Window(7, 9, 2))))
    assert pieces[:6] == [(0, 8), (3, 0), (5, 8), (7, 2), (9, 8), (13, 0)]
    assert MOST_PIECES - 2 <= len(pieces) <= MOST_PIECES + 1
    assert pieces[-1][1] == 8


def test_a_window_that_never_ends_by_repeating_is_followed_for_a_while() -> None:
    pieces = pieces_of(Lane("l", "l", None, 8, (Window(0, 10, 3, 10),)))
    assert pieces == [(0, 3), (MOST_PIECES * 10, 8)]


def test_a_lane_without_windows_is_one_piece() -> None:
    assert pieces_of(Lane("l", "l", None, 8)) == [(0, 8)]


@given(windowed_lanes(), st.integers(1, 9), st.integers(0, 90))
def test_the_latest_start_is_the_last_from_which_a_transfer_ends_in_time(lane: Lane, duration: int, end: int) -> None:
    pieces = pieces_of(lane)
    assert all(a < b for (a, _), (b, _) in pairwise(pieces))
    calendar = LaneCalendar(lane)
    in_time = [t for t in range(end + 1) if calendar.start(t, duration) == t and calendar.end(t, duration) <= end]
    assert latest_start_ns(pieces, lane.rate_bps, end, duration) == max(in_time, default=None)
