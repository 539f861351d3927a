"""What orders come to: their times, what they hold, and why they do not fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import DoesNotFitError
from crosspipe.families.amounts import megabytes, milliseconds
from crosspipe.problem.operations import Kind
from crosspipe.schedule.measure import makespan_ns, peaks, span_ns, value_ns
from crosspipe.schedule.replay import resolved
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.measure import Peak
    from crosspipe.schedule.orders import Orders, Schedule


@dataclass(frozen=True, slots=True)
class Verdict:
    """Measures of timed orders.

    Attributes
    ----------
    value_ns
        Value of the objective.
    makespan_ns, span_ns
        Both, whatever the objective.
    peak_bytes
        Per device, the most memory it holds.
    reason
        Why the orders break a limit, None if they keep all.
    """

    value_ns: int
    makespan_ns: int
    span_ns: int
    peak_bytes: tuple[int, ...]
    reason: str | None


def judge(problem: Problem, orders: Orders, objective: Objective) -> Verdict:
    """Time the orders and hold them against every limit.

    Raises
    ------
    DeadlockError
        If operations wait for each other in a circle.
    NeverOpensError
        If a transfer waits for a lane that never again opens for long enough.
    """
    schedule = timed(problem, orders, objective)
    held = peaks(problem, schedule)
    memory = {pool.device: peak.amount for pool, peak in zip(problem.pools, held, strict=True) if pool.unit == "bytes"}
    return Verdict(
        value_ns=value_ns(problem, schedule, objective),
        makespan_ns=makespan_ns(schedule),
        span_ns=span_ns(problem, schedule),
        peak_bytes=tuple(memory.get(device, 0) for device in range(len(problem.devices))),
        reason=_too_much(problem, schedule, held) or _too_late(problem, schedule),
    )


def require_routes(problem: Problem) -> None:
    """Require that every message has a way to go.

    Raises
    ------
    DoesNotFitError
        Naming the first pair of devices that no link joins.
    """
    for hop in problem.hops:
        if hop.missing:
            sender, receiver = problem.devices[hop.sender].name, problem.devices[hop.receiver].name
            raise DoesNotFitError(f"no link leads from {sender} to {receiver}")


def _too_much(problem: Problem, schedule: Schedule, held: list[Peak]) -> str | None:
    """Name the pool that is exceeded most, relative to its capacity."""
    worst, share = None, 1.0
    for number, (pool, peak) in enumerate(zip(problem.pools, held, strict=True)):
        if pool.capacity is not None and peak.amount > pool.capacity * share:
            worst, share = number, peak.amount / max(pool.capacity, 1)
    if worst is None:
        return None
    pool, peak = problem.pools[worst], held[worst]
    where = problem.resource_name(pool.device)
    if pool.unit != "bytes":
        return f"needs {peak.amount} microbatches {pool.name} ({where}), the limit is {pool.capacity}"
    count = _activations(resolved(problem, schedule.orders), schedule, worst, peak.at_ns)
    return (
        f"needs {count} activation{'s' if count != 1 else ''} ({megabytes(peak.amount)} MB) on {where}, "
        f"has {megabytes(pool.capacity or 0)} MB"
    )


def _activations(problem: Problem, schedule: Schedule, pool: int, at_ns: int) -> int:
    """Count the F's whose activation is held in a pool at a moment."""
    holdings = problem.holdings
    mine = (holdings.pool == pool) & (holdings.amount > 0)
    mine &= (schedule.start_ns[holdings.taken_by] <= at_ns) & (schedule.end_ns[holdings.given_by] > at_ns)
    takers = np.unique(holdings.taken_by[mine])
    return int((problem.operations.kind[takers] == Kind.F).sum())


def _too_late(problem: Problem, schedule: Schedule) -> str | None:
    if problem.due_ns is None:
        return None
    late = np.flatnonzero(schedule.end_ns > problem.due_ns)
    if not len(late):
        return None
    worst = int(late[np.argmax(schedule.end_ns[late] - problem.due_ns[late])])
    ends, due = int(schedule.end_ns[worst]), int(problem.due_ns[worst])
    return f"{problem.label(worst)} ends at {milliseconds(ends)} ms, due at {milliseconds(due)} ms"
