"""The lane arithmetic against a count nanosecond by nanosecond."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from crosspipe.checker.lanes import LaneRates, Passage
from crosspipe.problem.links import Lane, Window


def rate_at(lane: Lane, moment: int) -> int:
    rate = lane.rate_bps
    for window in lane.windows:
        inside = moment if window.period_ns is None else moment % window.period_ns
        if moment >= 0 and window.start_ns <= inside and (window.end_ns is None or inside < window.end_ns):
            rate = min(rate, window.rate_bps)
    return rate


def counted(lane: Lane, start: int, duration: int) -> Passage:
    progress, now, closed, first = 0, start, 0, None
    while progress < duration * lane.rate_bps:
        rate = rate_at(lane, now)
        if rate == 0:
            closed += 1
            first = now if first is None else first
        progress += rate or lane.rate_bps
        now += 1
    return Passage(now, closed, first)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    period = draw(st.none() | st.integers(1, 12))
    start = draw(st.integers(0, 30 if period is None else period - 1))
    end = draw(st.integers(start + 1, 60 if period is None else period))
    forever = period is None and draw(st.booleans())
    return Window(start, None if forever else end, draw(st.integers(0, 9)), period)


@given(
    st.builds(
        lambda rate, found: Lane("l", "l", None, rate, tuple(found)), st.integers(1, 9), st.lists(windows(), max_size=4)
    ),
    st.integers(-5, 80),
    st.integers(0, 60),
)
@example(Lane("l", "l", None, 9, (Window(0, 3, 2, 5), Window(4, 5, 0, 7), Window(10, 90, 1))), 3, 400)
def test_a_passage_is_what_counting_gives(lane: Lane, start: int, duration: int) -> None:
    assert LaneRates(lane).passage(start, duration) == counted(lane, start, duration)


def test_many_periods_are_passed_over_exactly() -> None:
    # Half speed in every other microsecond: 4/3 of the time at full speed, over about 10^12 periods.
    lane = Lane("l", "l", None, 2, (Window(0, 1000, 1, 2000),))
    duration = 3 * 10**15
    passage = LaneRates(lane).passage(0, duration)
    assert passage == Passage(4 * 10**15)
    assert Fraction(passage.end_ns, duration) == Fraction(4, 3)


def test_a_very_slow_rate_is_followed_beyond_64_bits() -> None:
    lane = Lane("l", "l", None, 10**18, (Window(0, 7, 1, 8), Window(7, 8, 2, 8)))
    assert LaneRates(lane).passage(0, 9 * 10**18).end_ns == 8 * 10**36


def test_closed_time_over_many_periods_is_summed() -> None:
    lane = Lane("l", "l", None, 1, (Window(3, 5, 0, 10),))
    assert LaneRates(lane).passage(0, 10**9) == Passage(10**9, 2 * 10**8, 3)


def test_no_duration_is_never_under_way() -> None:
    lane = Lane("l", "l", None, 1, (Window(0, None, 0),))
    assert LaneRates(lane).passage(5, 0) == Passage(5)


def test_a_lane_that_all_but_stops_in_every_period_is_followed_exactly() -> None:
    lane = Lane("l", "l", None, 10**9, (Window(0, 10**7 - 1, 1, 10**7),))
    need, each = 8 * 10**6 * 10**9, 10**7 - 1 + 10**9
    periods, rest = divmod(need - 1, each)
    assert rest >= 10**7 - 1, "the last nanosecond of a period does the rest"
    assert LaneRates(lane).passage(0, 8 * 10**6) == Passage((periods + 1) * 10**7)
