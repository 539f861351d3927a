"""A device that cannot hold the weights it must gather, where they are not held throughout (`Pool.kept`).

Take the last F to start among those of the device's stages that have a backward, of microbatch n on stage i. All these
stages have then been gathered, as an F of each has started; none has been resharded, as that waits for the backward of
n, which comes after this F. So the pool holds what all of them gather, and what this F takes. A frozen stage is
gathered while its F's run, so it needs room beside what one of them takes. What F takes counts at its least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.bounds.obstacle import Obstacle, amount, listed
from crosspipe.bounds.relax import relaxed
from crosspipe.bounds.stage_memory import stage_memories
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.bounds.stage_memory import StageMemory
    from crosspipe.problem.problem import Problem


def gathered_obstacles(problem: Problem) -> tuple[Obstacle, ...]:
    """Name the pools of the first replica that are too small for what is gathered for a part of the time."""
    memories = {(memory.pool, memory.stage): memory for memory in stage_memories(relaxed(problem))}
    found = []
    for number, pool in enumerate(problem.pools):
        part = problem.gathered[number] > pool.kept and problem.devices[pool.device].replica == 0
        if not part or pool.capacity is None:
            continue
        for stages, taken in _together(problem, number):
            holders = [memories.get((number, stage)) for stage in stages]
            least = min(map(_least_taken, holders))
            needs = pool.base + taken + least
            if needs > pool.capacity:
                found.append(_obstacle(problem, number, stages, taken, needs))
                break
    return tuple(found)


def _together(problem: Problem, pool: int) -> list[tuple[list[int], int]]:
    """List the stages that are gathered at one time, with the amount: those with a backward, then each frozen one."""
    ops, held, waits = problem.operations, problem.holdings, problem.precedences
    rows = np.flatnonzero((held.pool == pool) & (ops.kind[held.taken_by] == Kind.EXTRA) & (held.amount > 0))
    trained: dict[int, int] = {}
    frozen: dict[int, int] = {}
    for row in rows.tolist():
        last = waits.before[waits.after == held.given_by[row]]
        last = last[ops.kind[last] <= Kind.BW]
        for stage in np.unique(ops.stage[last]).tolist():
            kinds = trained if (ops.kind[last] != Kind.F).all() else frozen
            kinds[stage] = kinds.get(stage, 0) + int(held.amount[row])
    groups = [([stage], taken) for stage, taken in frozen.items()]
    return [(list(trained), sum(trained.values())), *groups] if trained else groups


def _least_taken(memory: StageMemory | None) -> int:
    if memory is None or not memory.takes_time[Kind.F].all():
        return 0
    return int((memory.activation + memory.forward_only).min())


def _obstacle(problem: Problem, number: int, stages: list[int], taken: int, needs: int) -> Obstacle:
    pool = problem.pools[number]
    device, has = problem.devices[pool.device].name, pool.capacity or 0
    parts = [f"{amount(pool.base, pool.unit)} static"] if pool.base else []
    which = f"stage{'s' if len(stages) > 1 else ''} {listed([str(stage) for stage in stages])}"
    parts.append(f"{amount(taken, pool.unit)} of gathered weights of {which}")
    if rest := needs - pool.base - taken:
        parts.append(f"{amount(rest, pool.unit)} for one F")
    message = (
        f"memory of {device} is too small: needs {amount(needs, pool.unit)} ({' + '.join(parts)}), "
        f"has {amount(has, pool.unit)}"
    )
    facts: dict[str, object] = {"devices": [device], "stages": stages, "needs": needs, "has": has, "gathered": taken}
    return Obstacle("memory", device, needs, has, pool.unit, needs, message, facts)
