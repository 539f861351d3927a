"""How long activations are held: the time every microbatch is in flight on every stage, added up.

A microbatch is in flight on a stage from the start of its F until its activations are wholly given back: to the end of
W where W holds a part of them, else to the end of B (or BW), else (a frozen stage) to the end of F itself. Memory that
only the backward takes is no activation and does not count, nor does how large the activations are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind
from crosspipe.schedule.replay import resolved

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule


def flights(problem: Problem) -> tuple[IntArray, IntArray]:
    """Pair every F with the operation whose end gives its activations wholly back.

    Parameters
    ----------
    problem
        The problem; recompute options applied, as they change what is held.

    Returns
    -------
    tuple of arrays
        Operation numbers, both of shape (replicas x stages x microbatches,).
    """
    table = problem.numbers
    closing = table[Kind.F]
    for kind in (Kind.B, Kind.BW):
        closing = np.where(table[kind] >= 0, table[kind], closing)
    forwards = table[Kind.F].ravel()
    closes = np.full(len(problem.operations), -1, dtype=np.int64)
    closes[forwards] = closing.ravel()
    holdings, kinds = problem.holdings, problem.operations.kind
    memory = np.array([pool.unit == "bytes" for pool in problem.pools], dtype=bool)
    kept = (holdings.amount > 0) & memory[holdings.pool]
    kept &= (kinds[holdings.taken_by] == Kind.F) & (kinds[holdings.given_by] == Kind.W)
    closes[holdings.taken_by[kept]] = holdings.given_by[kept]
    return forwards, closes[forwards]


def in_flight_ns(problem: Problem, schedule: Schedule) -> int:
    """Add up, over all stages and microbatches, the time from the start of F to the end of what gives all back."""
    forwards, closing = flights(resolved(problem, schedule.orders))
    return sum((schedule.end_ns[closing] - schedule.start_ns[forwards]).tolist())


def least_in_flight_ns(problem: Problem) -> int:
    """Add up the shortest round trips: no schedule holds activations for less, whatever its value.

    From the start of an F to the end of what closes its flight at least the longest path of precedences between the two
    passes, on empty devices and lanes. Microbatches of one multiplier are alike, and so are replicas.
    """
    kinds = dict.fromkeys(problem.multipliers)
    first = {multiplier: problem.multipliers.index(multiplier) for multiplier in kinds}
    trips = {multiplier: _trips_ns(problem, microbatch) for multiplier, microbatch in first.items()}
    return problem.replicas * sum(trips[multiplier] for multiplier in problem.multipliers)


def _trips_ns(problem: Problem, microbatch: int) -> int:
    """Round trips of one microbatch of the first replica, over all stages."""
    ops, arcs = problem.operations, problem.precedences
    own = (ops.microbatch == microbatch) & (ops.replica == 0) & (ops.kind < Kind.EXTRA)
    rows = own[arcs.before] & own[arcs.after]
    length = (ops.duration_ns[arcs.before] + arcs.lag_ns)[rows].tolist()
    after: dict[int, list[tuple[int, int]]] = {}
    waiting = dict.fromkeys(np.flatnonzero(own).tolist(), 0)
    for u, v, far in zip(arcs.before[rows].tolist(), arcs.after[rows].tolist(), length, strict=True):
        after.setdefault(u, []).append((v, far))
        waiting[v] += 1
    order = [operation for operation, count in waiting.items() if count == 0]
    for operation in order:
        for v, _ in after.get(operation, ()):
            waiting[v] -= 1
            if waiting[v] == 0:
                order.append(v)
    total = 0
    place = {operation: number for number, operation in enumerate(order)}
    for forward, closing in zip(*(numbers.tolist() for numbers in flights(problem)), strict=True):
        if not own[forward]:
            continue
        reached = {forward: 0}
        for operation in order[place[forward] : place[closing]]:
            if operation not in reached:
                continue
            for v, far in after.get(operation, ()):
                reached[v] = max(reached.get(v, 0), reached[operation] + far)
        total += reached[closing] + int(ops.duration_ns[closing])
    return total
