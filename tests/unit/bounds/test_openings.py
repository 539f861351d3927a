"""What a lane carries, compared nanosecond by nanosecond with its windows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.bounds.test_one_machine import LANES

from crosspipe.bounds.openings import closes_for_ever_ns, openings, without_last_closing
from crosspipe.problem.links import Lane, Window


def rate(lane: Lane, time: int) -> int:
    inside = [
        w.rate_bps
        for w in lane.windows
        if w.start_ns <= (time if w.period_ns is None else time % w.period_ns)
        and (w.end_ns is None or (time if w.period_ns is None else time % w.period_ns) < w.end_ns)
    ]
    return min([lane.rate_bps, *inside])


@given(LANES, st.integers(0, 60), st.integers(0, 150))
def test_work_and_its_time(lane: Lane, time: int, work: int) -> None:
    opened = openings(lane)
    if opened is None:
        assert lane.windows == ()
        return
    carried = [0]
    for now in range(3000):
        carried.append(carried[-1] + rate(lane, now))
    assert opened.work_by(time) == carried[time]
    assert opened.time_of(work) == next((t for t, done in enumerate(carried) if done >= work), None)


@given(LANES, st.integers(0, 40))
def test_the_widest_opening(lane: Lane, after: int) -> None:
    opened = openings(lane)
    if opened is None:
        return
    runs = [0]
    for now in range(after, 400):
        runs.append(runs[-1] + rate(lane, now) if rate(lane, now) else 0)
    widest = opened.widest(after)
    assert (widest is None) == (runs[-100:] == sorted(set(runs[-100:])) and runs[-1] > 100)
    if widest is not None:
        assert widest == max(runs)


@pytest.mark.parametrize(("windows", "closes"), [((Window(5, None, 0),), 5), ((Window(5, 9, 0),), None), ((), None)])
def test_closing_for_ever(windows: tuple[Window, ...], closes: int | None) -> None:
    lane = Lane("a", "a", None, 1, windows)
    assert closes_for_ever_ns(lane) == closes
    assert closes_for_ever_ns(without_last_closing(lane)) is None


def test_a_lane_closed_for_ever_carries_no_more() -> None:
    opened = openings(Lane("a", "a", None, 2, (Window(5, None, 0),)))
    assert opened is not None
    assert (opened.work_by(3), opened.work_by(50)) == (6, 10)
    assert (opened.time_of(10), opened.time_of(11)) == (5, None)
    assert (opened.widest(), opened.widest(3)) == (10, 4)


def test_too_many_pieces_are_left_out() -> None:
    lane = Lane("a", "a", None, 1, (Window(0, 1, 0, 10**6), Window(0, 1, 0, 10**6 - 1)))
    assert openings(lane) is None
