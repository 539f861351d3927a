"""The timetable under judgement: which operations are placed, when they start, and when they must end.

All times are plain Python integers: nothing a document claims can overflow them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Timetable:
    """Times by operation number, None for an operation that is missing.

    Attributes
    ----------
    problem
        The problem, recompute options applied.
    start_ns
        As placed.
    end_ns
        What start, duration and the rate of the lane imply, whatever end was claimed.
    """

    problem: Problem
    start_ns: list[int | None]
    end_ns: list[int | None]

    @cached_property
    def resource(self) -> list[int]:
        """Device or lane number of each operation."""
        return [int(number) for number in self.problem.operations.resource.tolist()]

    def label(self, operation: int) -> str:
        """Name an operation for people."""
        return self.problem.label(operation)

    def where(self, operation: int) -> str | None:
        """Name the device or lane of an operation, None if it occupies nothing."""
        resource = self.resource[operation]
        return None if resource < 0 else self.problem.resource_name(resource)

    def placed(self, operations: list[int]) -> list[tuple[int, int, int]]:
        """Give (start, end, operation) of those that are placed, by time."""
        rows = [
            (start, end, operation)
            for operation in operations
            if (start := self.start_ns[operation]) is not None and (end := self.end_ns[operation]) is not None
        ]
        rows.sort()
        return rows
