"""Random lanes with closed and slower windows, once and again and again."""

from __future__ import annotations

from hypothesis import strategies as st

from crosspipe.problem.links import Lane, Window


@st.composite
def windowed_lanes(draw: st.DrawFn) -> Lane:
    """A lane of rate 3 with one to four windows, in times up to about 40."""
    windows = []
    period = draw(st.integers(5, 20))
    for _ in range(draw(st.integers(1, 4))):
        rate = draw(st.integers(0, 2))
        if draw(st.booleans()):
            start = draw(st.integers(0, period - 1))
            windows.append(Window(start, draw(st.integers(start + 1, period)), rate, period))
        else:
            start = draw(st.integers(0, 25))
            end = draw(st.none() | st.integers(start + 1, start + 15))
            windows.append(Window(start, end, rate))
    return Lane("l", "l", None, 3, tuple(windows))
