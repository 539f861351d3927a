"""Own arithmetic of lanes: against hand-worked cases and the calendar that schedules are timed with."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosspipe.certificate.rates import Rates
from crosspipe.certificate.verdict import Budget, RefusedError
from crosspipe.problem.calendar import LaneCalendar
from crosspipe.problem.links import Lane, Window


def lane(*windows: Window, rate: int = 4) -> Lane:
    return Lane("x/out", "x", None, rate, windows)


def rates(*windows: Window) -> Rates:
    return Rates(lane(*windows), Budget(10**9))


@st.composite
def some_windows(draw: st.DrawFn) -> tuple[Window, ...]:
    found = []
    for _ in range(draw(st.integers(1, 3))):
        start, rate = draw(st.integers(0, 30)), draw(st.sampled_from([0, 0, 1, 3]))
        period = draw(st.sampled_from([None, None, 12, 40]))
        if period is not None:
            start %= period
        longest = 25 if period is None else period - start
        ends = start + draw(st.integers(1, longest))
        found.append(Window(start, None if period is None and draw(st.integers(0, 9)) == 0 else ends, rate, period))
    return tuple(found)


@given(some_windows(), st.integers(0, 90), st.integers(1, 40))
@settings(max_examples=300, deadline=None)
def test_passages_are_those_of_the_calendar(windows: tuple[Window, ...], ready: int, duration: int) -> None:
    calendar = LaneCalendar(lane(*windows))
    start = calendar.start(ready, duration)
    wanted = (ready, ready + duration) if start is None else (start, calendar.end(start, duration))
    assert rates(*windows).passage(ready, duration) == wanted


@given(some_windows(), st.integers(0, 90), st.integers(0, 200))
@settings(max_examples=300, deadline=None)
def test_work_is_done_when_the_rates_add_up_to_it(windows: tuple[Window, ...], start: int, duration: int) -> None:
    found = rates(*windows).done(start, duration)
    need, now = 4 * duration, start
    while need > 0 and now < start + 20_000:
        need -= rates(*windows).at(now)[0]
        now += 1
    assert found == (None if need > 0 else now)


def test_rounds_of_a_period_are_passed_over_at_once() -> None:
    mostly_closed = rates(Window(0, 9, 0, 10))
    assert mostly_closed.done(0, 10**9) == 10**10
    assert rates(Window(0, 10, 0, 10)).done(0, 1) is None


def test_a_lane_without_an_opening_counts_as_open() -> None:
    assert rates(Window(5, None, 0)).passage(4, 3) == (4, 7)
    assert rates(Window(0, 9, 0, 10)).passage(0, 2) == (0, 2)


def test_looking_for_an_opening_spends_the_budget() -> None:
    windows = [Window(k, k + 1, 0, period) for k, period in enumerate((7919, 7907, 7901, 7883))]
    with pytest.raises(RefusedError, match="more work"):
        Rates(lane(*windows, Window(0, 7000, 0, 7001)), Budget(10**4)).passage(0, 7000)
