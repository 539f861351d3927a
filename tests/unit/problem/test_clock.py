from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.building import STAGE, problem

from crosspipe.problem.calendar import LaneCalendar
from crosspipe.problem.clock import longest_ns
from crosspipe.problem.links import Lane, Window


@st.composite
def periodic(draw: st.DrawFn) -> Lane:
    period = draw(st.integers(4, 25))
    windows = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, period - 1))
        end = draw(st.integers(start + 1, period))
        windows.append(Window(start, end, draw(st.integers(0, 2)), period))
    return Lane("l", "l", None, 3, tuple(windows))


@given(lane=periodic(), duration=st.integers(1, 8))
def test_the_reservation_is_the_worst_over_every_phase(lane: Lane, duration: int) -> None:
    calendar = LaneCalendar(lane)
    period = lane.windows[0].period_ns or 0
    starts = [calendar.start(phase, duration) for phase in range(period)]
    if None in starts:
        assert longest_ns(lane, duration) is None
        return
    assume(all(start is not None for start in starts))
    worst = max(calendar.end(s, duration) - phase for phase, s in enumerate(starts) if s is not None)
    assert longest_ns(lane, duration) == worst


def test_a_clock_anchored_window_lengthens_the_transfer_and_leaves_the_lane_open() -> None:
    link = {"between": ["a", "b"], "bandwidth_gbps": 8, "anchor": "clock", "period_ms": 10, "closed_ms": [[0, 3]]}
    stages = [STAGE | {"boundary_mb": 2}, STAGE]
    compiled = problem(stages, 1, sites={"a": {"devices": 1}, "b": {"devices": 1}}, links=[link])
    # Requested one nanosecond too late to end before the window: 2 - 10^-6 ms of waiting, 3 closed, 2 of transfer.
    assert {hop.transfer_ns for hop in compiled.hops} == {6_999_999}
    assert compiled.robust
    assert all(not lane.windows for lane in compiled.lanes)
