"""Hours of the certificates, for many times at once, beside the calendar."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.problem.lanes_with_windows import windowed_lanes

from crosspipe.certificate.hours import FAR, LARGEST, NEVER, Hours
from crosspipe.certificate.verdict import MOST_WORK, Budget, RefusedError
from crosspipe.problem.calendar import LaneCalendar
from crosspipe.problem.links import Lane, Window

HORIZON = 100
TIMES = np.arange(HORIZON + 1, dtype=np.int64)


@settings(max_examples=200)
@given(windowed_lanes(), st.integers(0, 9))
def test_all_starts_and_ends_are_those_of_the_calendar(lane: Lane, duration: int) -> None:
    hours, calendar = Hours(lane, HORIZON, Budget(MOST_WORK)), LaneCalendar(lane)
    starts, ends = hours.passage(TIMES, duration)
    latest = hours.latest(TIMES, duration)
    begins = [calendar.start(t, duration) for t in range(HORIZON + 1)]
    last = NEVER
    ended = {t: calendar.end(t, duration) for t, begin in enumerate(begins) if begin == t}
    for t, begin in enumerate(begins):
        end = FAR if begin is None else calendar.end(begin, duration)
        if begin is not None and end <= HORIZON:
            assert (starts[t], ends[t]) == (begin, end)
        elif duration:
            assert ends[t] > HORIZON  # what ends after the horizon need not be told exactly
        last = max([start for start, its_end in ended.items() if its_end <= t], default=NEVER)
        assert latest[t] == last


def test_far_and_never_stay_so() -> None:
    hours = Hours(Lane("l", "l", None, 3, (Window(4, 9, 0),)), HORIZON, Budget(MOST_WORK))
    assert hours.passage(np.array([FAR]), 3)[1].tolist() == [FAR]
    assert hours.latest(np.array([NEVER, 0]), 3).tolist() == [NEVER, NEVER]


def test_a_lane_that_never_opens_has_no_start() -> None:
    hours = Hours(Lane("l", "l", None, 3, (Window(0, None, 0),)), HORIZON, Budget(MOST_WORK))
    assert hours.passage(TIMES, 3)[0].tolist() == [FAR] * len(TIMES)
    assert hours.latest(TIMES, 3).tolist() == [NEVER] * len(TIMES)


def test_rates_too_large_to_count_with_are_rounded_up_or_refused() -> None:
    full = LARGEST // 50 + 1
    hours = Hours(Lane("l", "l", None, full, (Window(10, 20, full // 3),)), HORIZON, Budget(MOST_WORK))
    assert [x.tolist() for x in hours.passage(np.array([10]), 2)] == [[10], [16]]
    with pytest.raises(RefusedError, match="too large"):
        Hours(Lane("l", "l", None, full, (Window(10, 20, full // 3),)), LARGEST // 100, Budget(MOST_WORK))
