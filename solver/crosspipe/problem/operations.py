"""Operations of a step as arrays: what each does, where and how long, what it waits for and what it holds.

Times are integer nanoseconds. An operation is its number: the row in every array of `Operations`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]

NO_RESOURCE = -1
"""Resource number of an operation that occupies nothing."""

NO_DEADLINE = np.iinfo(np.int64).max
"""Entry of `due_ns` for an operation without a deadline."""


class Kind(IntEnum):
    """What an operation does. B is the input-gradient half, W the weight half, BW both in one."""

    F = 0
    B = 1
    W = 2
    BW = 3
    ACTIVATION = 4
    GRADIENT = 5
    EXTRA = 6

    @property
    def is_compute(self) -> bool:
        """Whether the operation is forward or backward work on a device."""
        return self <= Kind.BW

    @property
    def is_transfer(self) -> bool:
        """Whether the operation is a message on a lane."""
        return self in (Kind.ACTIVATION, Kind.GRADIENT)


@dataclass(frozen=True, slots=True, eq=False)
class Operations:
    """All operations, one row each; every array has the same length N.

    Attributes
    ----------
    kind
        `Kind` values.
    stage
        The stage; for a transfer the boundary (lower stage); -1 for an extra operation.
    microbatch, replica
        From 0; 0 for an extra operation.
    duration_ns
        At the full rate of its lane.
    resource
        Device or lane number, `NO_RESOURCE` for none.
    leg
        For a transfer the place of its link in `Hop.legs`, else 0.
    """

    kind: IntArray
    stage: IntArray
    microbatch: IntArray
    replica: IntArray
    duration_ns: IntArray
    resource: IntArray
    leg: IntArray

    def __len__(self) -> int:
        """Return the number of operations."""
        return len(self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class Precedences:
    """`start(after[i]) >= end(before[i]) + lag_ns[i]`."""

    before: IntArray
    after: IntArray
    lag_ns: IntArray

    def __len__(self) -> int:
        """Return the number of precedences."""
        return len(self.before)


@dataclass(frozen=True, slots=True, eq=False)
class Holdings:
    """`amount[i]` of pool `pool[i]` is held from the START of `taken_by[i]` to the END of `given_by[i]`."""

    pool: IntArray
    taken_by: IntArray
    given_by: IntArray
    amount: IntArray

    def __len__(self) -> int:
        """Return the number of holdings."""
        return len(self.pool)


@dataclass(frozen=True, slots=True, eq=False)
class RecomputeChoice:
    """Other durations and amounts that hold if the stage is recomputed; chosen once per stage for the whole step."""

    stage: int
    operations: IntArray
    durations_ns: IntArray
    holdings: IntArray
    amounts: IntArray
