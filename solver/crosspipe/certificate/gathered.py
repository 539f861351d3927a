"""What extra operations hold of a pool whenever its capacity can bind: gathered weights, in whole or not at all.

Let all else that takes from the pool be F's of stages with a backward. Then the pool is fullest at a start of an F, say
of microbatch n on stage i. Take a holding from an operation that every F of stage u of the device waits for, to one
that waits for a backward or W of every microbatch on u. It cannot be over: the backward of n on u comes after F of n
on every stage. If it has not begun, no F of u has, so i < u, and nothing that the pool holds can have been given back:
every backward of the device's stages below u waits for the one on u, and no F of those above has started. All of it is
still held when the first F of u starts, beside the holding itself. So the pool must have room for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.problem.problem import Problem

    IntArray = NDArray[np.int64]

BACKWARD = (Kind.B, Kind.BW)


def gathered(problem: Problem, pool: int) -> int:
    """Amount to count as held all the time beside the static; 0 where one holding is of another kind."""
    ops, held = problem.operations, problem.holdings
    mine = np.flatnonzero((held.pool == pool) & (_most(problem) > 0))
    extra = ops.kind[held.taken_by[mine]] == Kind.EXTRA
    if not extra.any() or problem.pools[pool].unit != "bytes":
        return 0
    others = mine[~extra]
    given_back = np.isin(ops.kind[held.given_by[others]], (Kind.B, Kind.BW, Kind.W))
    if not (given_back & (ops.kind[held.taken_by[others]] == Kind.F)).all():
        return 0
    device = problem.devices[problem.pools[pool].device]
    has = [all(_backward(problem, stage, device.replica)) for stage in range(len(problem.stages))]
    if not all(has[min(device.stages, default=0) :]):
        return 0
    total = 0
    for row in mine[extra].tolist():
        taken, given = int(held.taken_by[row]), int(held.given_by[row])
        if not any(_spans(problem, stage, device.replica, taken, given) for stage in device.stages):
            return 0
        total += int(held.amount[row])
    return total


def _most(problem: Problem) -> IntArray:
    """Largest amount of each holding, whatever stages are recomputed."""
    most = problem.holdings.amount.copy()
    for choice in problem.choices:
        np.maximum.at(most, choice.holdings, choice.amounts)
    return most


def _backward(problem: Problem, stage: int, replica: int) -> list[bool]:
    table = problem.numbers
    return [any(int(table[kind, replica, stage, n]) >= 0 for kind in BACKWARD) for n in range(problem.microbatches)]


def _spans(problem: Problem, stage: int, replica: int, taken: int, given: int) -> bool:
    """Whether every F of a stage waits for one operation, and the other for a backward or W of every microbatch."""
    ops, waits, table = problem.operations, problem.precedences, problem.numbers
    reached, front = np.zeros(len(ops), dtype=bool), np.array([taken], dtype=np.int64)
    while len(front):
        following = np.unique(waits.after[np.isin(waits.before, front)])
        following = following[~reached[following]]
        reached[following] = True
        front = following[ops.kind[following] == Kind.EXTRA]
    if not reached[table[Kind.F, replica, stage]].all():
        return False
    awaited = waits.before[waits.after == given]
    mine = awaited[(ops.stage[awaited] == stage) & (ops.replica[awaited] == replica)]
    mine = mine[np.isin(ops.kind[mine], (Kind.B, Kind.BW, Kind.W))]
    return set(ops.microbatch[mine].tolist()) == set(range(problem.microbatches))
