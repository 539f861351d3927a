"""Opening hours in the kernels beside the calendar."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.building import STAGE, problem
from tests.unit.problem.lanes_with_windows import windowed_lanes

from crosspipe.lattice.hours import COARSE, LARGEST_RATE, hours_of
from crosspipe.lattice.kernel import NEVER, open_from, open_until
from crosspipe.problem.calendar import LaneCalendar
from crosspipe.problem.links import Lane, Window
from crosspipe.problem.pieces import MOST_PIECES

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def _on(lane: Lane) -> Problem:
    link = {"between": ["a", "b"], "bandwidth_gbps": 8}
    sites = {"a": {"devices": 1}, "b": {"devices": 1}}
    compiled = problem([STAGE | {"boundary_mb": 1}] * 2, 1, sites=sites, links=[link])
    return replace(compiled, lanes=(lane, *compiled.lanes[1:]))


@settings(max_examples=200)
@given(windowed_lanes(), st.integers(0, 9), st.integers(0, 90))
def test_starts_and_ends_are_those_of_the_calendar(lane: Lane, duration: int, time: int) -> None:
    hours = hours_of(_on(lane), [0, 2], 1)
    assert hours[0].tolist() == [-1, 0]
    calendar = LaneCalendar(lane)
    start = calendar.start(time, duration)
    found = open_from(hours, 0, time, duration)
    if start is None:
        assert found[1] > MOST_PIECES  # where windows repeat, no further is looked
    else:
        assert found == (start, calendar.end(start, duration))
    in_time = [t for t in range(time + 1) if calendar.start(t, duration) == t and calendar.end(t, duration) <= time]
    assert open_until(hours, 0, time, duration) == max(in_time, default=NEVER)


def test_rates_too_large_to_count_with_are_rounded_up() -> None:
    full = LARGEST_RATE * 7 + 1
    hours = hours_of(_on(Lane("l", "l", None, full, (Window(10, 20, full // 3),))), [2], 1)
    assert hours[4].tolist() == [COARSE]
    assert hours[2].tolist() == [COARSE, -(-(full // 3) * COARSE // full), COARSE]
    assert open_from(hours, 0, 10, 2) == (10, 16)


def test_times_count_in_ticks() -> None:
    hours = hours_of(_on(Lane("l", "l", None, 1, (Window(10, 20, 0, 40),))), [2], 5)
    assert hours[1][:4].tolist() == [0, 2, 4, 10]
    assert open_from(hours, 0, np.int64(1), np.int64(2)) == (4, 6)
