"""What something waits for: operations, each with the time that must pass after its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from crosspipe.problem.builder import Builder
    from crosspipe.problem.operations import IntArray


@dataclass(frozen=True, slots=True)
class Ends:
    """Arrays of operation numbers, each with a lag in nanoseconds; empty for nothing to wait for."""

    rows: tuple[tuple[IntArray, int], ...] = ()

    @classmethod
    def of(cls, number: int, lag_ns: int = 0) -> Ends:
        """Take one operation."""
        return cls(((np.array([[number]], dtype=np.int64), lag_ns),))

    def __add__(self, other: Ends) -> Ends:
        """Wait for both."""
        return Ends(self.rows + other.rows)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The first operation of each array."""
        return tuple(int(numbers.flat[0]) for numbers, _ in self.rows)

    @property
    def lag_ns(self) -> int:
        """The largest lag."""
        return max((lag for _, lag in self.rows), default=0)

    def hold_back(self, builder: Builder, after: IntArray) -> None:
        """Make operations wait for all of these."""
        for before, lag in self.rows:
            builder.after(before, after, lag)


NOTHING = Ends()
"""Nothing to wait for."""
