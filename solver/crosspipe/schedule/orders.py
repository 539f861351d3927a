"""What producers return (orders) and what the replay makes of it (a schedule with times)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Orders:
    """One total order of operations for each resource: devices first, then lanes, numbered as in the problem.

    Attributes
    ----------
    sequences
        Operation numbers per resource, in order of execution.
    recomputed
        Stages that take their recompute option.
    """

    sequences: tuple[IntArray, ...]
    recomputed: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """Exact times for every operation of a problem, in integer nanoseconds.

    Attributes
    ----------
    start_ns, end_ns
        Per operation number; `end - start` exceeds the duration only where a lane runs slower.
    orders
        The orders the times came from.
    """

    start_ns: IntArray
    end_ns: IntArray
    orders: Orders
