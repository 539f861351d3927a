"""What is measured on a timed schedule: makespan, span, bubble ratio, busy time, peaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective
from crosspipe.schedule.replay import resolved

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule


@dataclass(frozen=True, slots=True)
class Peak:
    """Largest amount held in a pool, base included, and the first time it is held."""

    amount: int
    at_ns: int


def makespan_ns(schedule: Schedule) -> int:
    """Last end of any operation, counted from time 0."""
    return int(schedule.end_ns.max())


def compute_rows(problem: Problem, schedule: Schedule) -> list[IntArray]:
    """Compute operations of each device in its order."""
    kind = problem.operations.kind
    sequences = schedule.orders.sequences[: len(problem.devices)]
    return [sequence[kind[sequence] <= Kind.BW] for sequence in sequences]


def span_ns(problem: Problem, schedule: Schedule) -> int:
    """Largest, over devices, of last end minus first start of compute on that device (extra operations not counted)."""
    held = (rows for rows in compute_rows(problem, schedule) if len(rows))
    return max(int(schedule.end_ns[rows].max() - schedule.start_ns[rows].min()) for rows in held)


def value_ns(problem: Problem, schedule: Schedule, objective: Objective) -> int:
    """Value of the objective."""
    return makespan_ns(schedule) if objective is Objective.MAKESPAN else span_ns(problem, schedule)


def busy_ns(problem: Problem, schedule: Schedule) -> list[int]:
    """Compute time of each device."""
    return [int((schedule.end_ns[rows] - schedule.start_ns[rows]).sum()) for rows in compute_rows(problem, schedule)]


def bubble_ratio(problem: Problem, schedule: Schedule, objective: Objective) -> float:
    """Share of device time without compute: 1 - work / (devices x value); with span the Zero Bubble paper's rate."""
    value = value_ns(problem, schedule, objective)
    return 1 - sum(busy_ns(problem, schedule)) / (len(problem.devices) * value) if value else 0.0


def peaks(problem: Problem, schedule: Schedule) -> list[Peak]:
    """Largest amount held in each pool; what is given back at a moment is free for what is taken at it."""
    problem = resolved(problem, schedule.orders)
    holdings = problem.holdings
    pool = np.concatenate([holdings.pool, holdings.pool])
    at = np.concatenate([schedule.start_ns[holdings.taken_by], schedule.end_ns[holdings.given_by]])
    delta = np.concatenate([holdings.amount, -holdings.amount])
    order = np.lexsort((delta, at, pool))
    pool, at, delta = pool[order], at[order], delta[order]
    edges = np.searchsorted(pool, np.arange(len(problem.pools) + 1))
    found = []
    for number, limit in enumerate(problem.pools):
        levels = limit.base + np.cumsum(delta[edges[number] : edges[number + 1]])
        top = int(np.argmax(levels)) if len(levels) else 0
        if len(levels) and levels[top] > limit.base:
            found.append(Peak(int(levels[top]), int(at[edges[number] + top])))
        else:
            found.append(Peak(limit.base, 0))
    return found


def fits(problem: Problem, schedule: Schedule) -> bool:
    """Whether the schedule keeps every capacity and deadline."""
    if problem.due_ns is not None and (schedule.end_ns > problem.due_ns).any():
        return False
    return all(
        pool.capacity is None or peak.amount <= pool.capacity
        for pool, peak in zip(problem.pools, peaks(problem, schedule), strict=True)
    )
