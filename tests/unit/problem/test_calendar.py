from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosspipe.problem.calendar import LaneCalendar
from crosspipe.problem.links import Lane, Window


def lane(*windows: Window, rate: int = 1) -> Lane:
    return Lane("l", "l", None, rate, windows)


def by_nanosecond(rates: list[int], full: int, start: int, duration: int) -> int | None:
    """End of a transfer, one nanosecond at a time; None if it meets a closed one or runs off the list."""
    left, now = duration * full, start
    while left > 0:
        if now >= len(rates) or rates[now] == 0:
            return None
        left -= rates[now]
        now += 1
    return now


def test_an_open_lane_starts_at_once() -> None:
    assert LaneCalendar(lane()).start(7, 5) == 7
    assert LaneCalendar(lane()).end(7, 5) == 12


@pytest.mark.parametrize(("ready", "start"), [(0, 0), (1, 10), (5, 10), (9, 10), (10, 10), (11, 11)])
def test_a_transfer_may_end_where_a_window_starts_and_begin_where_it_ends(ready: int, start: int) -> None:
    assert LaneCalendar(lane(Window(4, 10, 0))).start(ready, 4) == start


def test_a_lane_closed_for_ever_never_opens() -> None:
    assert LaneCalendar(lane(Window(4, None, 0))).start(1, 4) is None
    assert LaneCalendar(lane(Window(4, None, 0))).start(0, 4) == 0


def test_a_gap_shorter_than_the_transfer_never_fits_though_windows_join_across_the_period() -> None:
    calendar = LaneCalendar(lane(Window(0, 2, 0, 8), Window(5, 8, 0, 8)))
    assert calendar.start(0, 3) == 2
    assert calendar.start(0, 4) is None


def test_a_gap_that_one_period_alone_never_leaves_is_not_looked_for_in_a_round_of_all() -> None:
    calendar = LaneCalendar(lane(Window(0, 500_000, 0, 7_000_001), Window(0, 500_000, 0, 11_000_003)))
    assert calendar.start(5, 6_500_002) is None
    assert calendar.start(5, 6_500_001) == 500_000


def test_a_lane_closed_all_the_period_never_opens() -> None:
    assert LaneCalendar(lane(Window(0, 10, 0, 10))).start(3, 1) is None


def test_a_slower_window_stretches_the_transfer_by_the_integral_of_the_rate() -> None:
    calendar = LaneCalendar(lane(Window(2, 8, 3), rate=10))
    # 2 ns at 10 and 6 ns at 3 make 38 of 50; 12 more at 10 take 2 ns, rounded up.
    assert calendar.end(0, 5) == 10


WINDOWS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 12), st.integers(0, 3)).map(lambda t: Window(t[0], t[0] + t[1], t[2])),
    max_size=4,
)


@given(windows=WINDOWS, ready=st.integers(0, 40), duration=st.integers(1, 10))
def test_start_and_end_are_those_of_a_walk_through_every_nanosecond(
    windows: list[Window], ready: int, duration: int
) -> None:
    full = 3
    rates = [min([full, *(w.rate_bps for w in windows if w.start_ns <= t < (w.end_ns or 0))]) for t in range(300)]
    calendar = LaneCalendar(lane(*windows, rate=full))
    start = calendar.start(ready, duration)
    expected = next(t for t in range(ready, 300) if by_nanosecond(rates, full, t, duration) is not None)
    assert start == expected
    assert calendar.end(start, duration) == by_nanosecond(rates, full, start, duration)


def test_a_transfer_through_a_million_million_windows_is_exact() -> None:
    calendar = LaneCalendar(lane(Window(0, 5, 1, 10), rate=2))
    # 15 of 20 a period; the last period's rest of 15 takes all of it.
    assert calendar.end(0, 15 * 10**12) == 2 * 10**13
    assert calendar.start(3, 15 * 10**12) == 3


def test_a_single_window_far_off_counts_though_many_periods_pass_before_it() -> None:
    slower = Window(10**13, 2 * 10**13, 1)
    calendar = LaneCalendar(lane(Window(0, 5, 1, 10), slower, rate=2))
    # Up to 10^13 ns three quarters of the full rate, then half of it.
    assert calendar.end(0, 10**13) == 10**13 + 5 * 10**12
    shut = LaneCalendar(lane(Window(0, 5, 1, 10), Window(10**13, 2 * 10**13, 0), rate=2))
    assert shut.start(0, 10**13) == 2 * 10**13


def test_a_closed_time_of_a_million_million_periods_is_passed_at_once() -> None:
    calendar = LaneCalendar(lane(Window(0, 5, 0, 10), Window(0, 10**13, 0), rate=2))
    assert calendar.start(0, 5) == 10**13 + 5


def test_a_lane_that_all_but_stops_in_every_period_is_followed_exactly() -> None:
    calendar = LaneCalendar(lane(Window(0, 10**7 - 1, 1, 10**7), rate=10**9))
    periods = (8 * 10**6 * 10**9 - 1) // (10**7 - 1 + 10**9)
    assert calendar.end(0, 8 * 10**6) == (periods + 1) * 10**7
