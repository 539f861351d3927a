"""How much of a pool is held over time: the step curve behind every peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

    IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A right-continuous step curve: `level[i]` is held on `[time_ns[i], time_ns[i + 1])`.

    Attributes
    ----------
    time_ns
        Ascending, the first is 0.
    level
        In the pool's unit, its base included.
    """

    time_ns: IntArray
    level: IntArray

    @property
    def peak(self) -> int:
        """The most that is ever held."""
        return int(self.level.max())


def memory_curve(problem: Problem, schedule: Schedule, pool: int) -> Curve:
    """Add up what is taken and given back, for one pool.

    What is given back and taken at the same moment is netted: the peak counts only what is held for some time.

    Parameters
    ----------
    problem
        With its recompute options applied (`schedule.replay.resolved`).
    schedule
        Times of all operations.
    pool
        Index into `problem.pools`.
    """
    held = problem.holdings
    mine = held.pool == pool
    taken, given, amount = held.taken_by[mine], held.given_by[mine], held.amount[mine]
    moments = np.concatenate(([0], schedule.start_ns[taken], schedule.end_ns[given]))
    changes = np.concatenate(([problem.pools[pool].base], amount, -amount))
    time_ns, slot = np.unique(moments, return_inverse=True)
    level = np.zeros(len(time_ns), dtype=np.int64)
    np.add.at(level, slot, changes)
    return Curve(time_ns, np.cumsum(level))
