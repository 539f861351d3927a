"""Messages on one lane, each in the earliest gap that takes it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from crosspipe.problem.calendar import LaneCalendar

if TYPE_CHECKING:
    from crosspipe.problem.links import Lane


class LaneSlots:
    """Busy times of a lane; `place` books the earliest free slot at or after readiness (first fit)."""

    def __init__(self, lane: Lane) -> None:
        self._calendar = None if not lane.windows else LaneCalendar(lane)
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._operations: list[int] = []

    def place(self, operation: int, ready_ns: int, duration_ns: int) -> tuple[int, int] | None:
        """Book an operation; returns its start and end, None if the lane never again opens for long enough."""
        ends = self._ends
        at = len(ends) if not ends or ready_ns >= ends[-1] else bisect_right(ends, ready_ns)
        start = ready_ns
        while True:
            end = start + duration_ns
            if self._calendar is not None:
                found = self._calendar.start(start, duration_ns)
                if found is None:
                    return None
                start, end = found, self._calendar.end(found, duration_ns)
            while at < len(ends) and ends[at] <= start:
                at += 1
            if at == len(ends) or end <= self._starts[at]:
                self._starts.insert(at, start)
                ends.insert(at, end)
                self._operations.insert(at, operation)
                return start, end
            start = ends[at]

    def sequence(self) -> list[int]:
        """All booked operations in order of their slots."""
        return self._operations.copy()
