"""`Ticks`: a problem in whole ticks, what the constraint modules read beside the problem itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.model.horizon import serial_horizon_ns
from crosspipe.model.scale import Scale, choose_scale
from crosspipe.model.windows import closed_ns
from crosspipe.problem.operations import NO_DEADLINE, Kind
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import makespan_ns

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

LARGEST_ENERGY = 2**61
"""Most amount times ticks that all holdings of a pool together may reach, so that no sum in CP-SAT overflows."""


@dataclass(frozen=True, slots=True, eq=False)
class Ticks:
    """A problem in ticks.

    Attributes
    ----------
    problem
        The problem in nanoseconds and bytes.
    objective
        What is minimised.
    scale
        Nanoseconds to ticks.
    horizon
        Latest end of any operation.
    duration, lag
        Per operation and per precedence.
    due
        Latest end per operation (`NO_DEADLINE` where none), or None.
    amount
        Per holding, in units of its pool.
    room
        Capacity left for holdings per pool in these units, None where holdings can never exceed it.
    closed
        Closed intervals per lane, sorted and disjoint.
    """

    problem: Problem
    objective: Objective
    scale: Scale
    horizon: int
    duration: IntArray
    lag: IntArray
    due: IntArray | None
    amount: IntArray
    room: tuple[int | None, ...]
    closed: tuple[tuple[tuple[int, int], ...], ...]


def to_ticks(problem: Problem, objective: Objective, incumbent: Schedule | None, largest: int) -> Ticks:
    """Scale a problem so that CP-SAT can be trusted with it; every schedule of the problem has an image.

    Parameters
    ----------
    problem
        The problem.
    objective
        What is minimised.
    incumbent
        A known schedule. For the makespan its length is the horizon (no worse schedule is of interest).
    largest
        Most ticks the horizon may have; times are coarsened to keep to it.
    """
    horizon_ns = serial_horizon_ns(problem, objective)
    if incumbent is not None:
        known = makespan_ns(incumbent)
        horizon_ns = known if objective is Objective.MAKESPAN else max(horizon_ns, known)
    scale = choose_scale(problem, horizon_ns, objective, largest)
    horizon = scale.ticks(horizon_ns)
    due = problem.due_ns
    if due is not None:
        due = np.where(due == NO_DEADLINE, NO_DEADLINE, scale.ticks_of(np.where(due == NO_DEADLINE, 0, due)))
    amount, room = _whole_amounts(problem, horizon)
    return Ticks(
        problem,
        objective,
        scale,
        horizon,
        scale.ticks_of(problem.operations.duration_ns),
        scale.ticks_of(problem.precedences.lag_ns),
        due,
        amount,
        room,
        _closed(problem, scale, horizon_ns),
    )


def _whole_amounts(problem: Problem, horizon: int) -> tuple[IntArray, tuple[int | None, ...]]:
    """Divide each pool's amounts by their common divisor; if sums could still overflow, by more, rounded down.

    What is kept of a pool (`Pool.kept`) is taken off its room and no amount any more.

    `sum of floor(a / k) <= floor(sum of a / k) <= floor(room / k)`: what fits still fits.
    """
    holdings = problem.holdings
    kept = np.array([pool.kept > 0 for pool in problem.pools], dtype=bool)[holdings.pool]
    extra = problem.operations.kind[holdings.taken_by] == Kind.EXTRA
    amount = np.where(kept & extra, 0, holdings.amount)
    room: list[int | None] = []
    for number, pool in enumerate(problem.pools):
        rows = np.flatnonzero(problem.holdings.pool == number)
        total = sum(amount[rows].tolist())
        if pool.room is None or total <= pool.room:
            room.append(None)
            continue
        divisor = int(np.gcd.reduce(amount[rows])) or 1
        divisor *= max(1, -(-total * max(horizon, 1) // (divisor * LARGEST_ENERGY)))
        amount[rows] //= divisor
        room.append(pool.room // divisor)
    return amount, tuple(room)


def _closed(problem: Problem, scale: Scale, horizon_ns: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """List the closed intervals of each lane in ticks; none where there are too many to model."""
    found: list[tuple[tuple[int, int], ...]] = []
    for number, lane in enumerate(problem.lanes, start=len(problem.devices)):
        rows = problem.by_resource[number]
        shortest = int(problem.operations.duration_ns[rows].min()) if len(rows) else 0
        closed = closed_ns(lane, horizon_ns, shortest) or ()
        ticks = ((scale.ticks(start), scale.ticks(end)) for start, end in closed)
        found.append(tuple((start, end) for start, end in ticks if start < end))
    return tuple(found)
