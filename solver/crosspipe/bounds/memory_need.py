"""What one microbatch alone makes a device hold, at least.

Take any schedule and strike out all microbatches but one: what is held only falls. So every schedule needs, on every
pool, the static amount and the smallest peak of the one microbatch by itself, and a pool with less room has no
schedule. (With as much, the microbatches can be run one after the other, so memory alone forbids nothing further.)

On a device the forwards of a microbatch's stages come in stage order, then the backwards in reverse, whatever the other
devices do; only W is free, and as W takes nothing and gives back, at once is best. What counts is what is held while an
operation that takes time runs: in no time, giving back makes room for taking. The peak of that one sequence is the
smallest peak. With recompute options open, the smallest over all choices for the stages of the device counts, each
choice at its largest microbatch.

Weights that are gathered for a part of the step count too where they are held whenever capacity binds (`Pool.kept`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from crosspipe.bounds.relax import relaxed
from crosspipe.bounds.stage_memory import StageMemory, stage_memories
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crosspipe.problem.problem import Problem

MOST_CHOICES = 10
"""Stages with an option on one device up to which all choices are tried; beyond, the smaller of all amounts counts."""


@dataclass(frozen=True, slots=True)
class Need:
    """Least amount that a pool must hold.

    Attributes
    ----------
    pool
        Number.
    amount
        Static and peak together.
    microbatch, stages
        Where the peak is taken: the microbatch, and the stages it then holds something for.
    recomputed
        Stages that take their recompute option in the choice that needs least.
    """

    pool: int
    amount: int
    microbatch: int
    stages: tuple[int, ...]
    recomputed: tuple[int, ...]


def memory_needs(problem: Problem) -> tuple[Need, ...]:
    """Find the least amount for every limited pool, ascending."""
    open_choices = () if problem.recomputed else tuple(choice.stage for choice in problem.choices)
    needs: dict[int, list[Need]] = {}
    for recomputed, resolved in _choices(problem, open_choices):
        groups: dict[int, list[StageMemory]] = {}
        for memory in stage_memories(resolved):
            if memory.room is not None:
                groups.setdefault(memory.pool, []).append(memory)
        for pool, limit in enumerate(problem.pools):
            if limit.capacity is not None:
                needs.setdefault(pool, []).append(_need(problem, pool, groups.get(pool, []), recomputed))
    return tuple(min(found, key=lambda need: (need.amount, len(need.recomputed))) for _, found in sorted(needs.items()))


def short_pools(problem: Problem) -> tuple[Need, ...]:
    """Name the pools whose capacity is below the need."""
    capacities = [pool.capacity for pool in problem.pools]
    return tuple(
        n for n in memory_needs(problem) if (capacity := capacities[n.pool]) is not None and n.amount > capacity
    )


def _choices(problem: Problem, stages: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Problem]]:
    """Choices of recomputed stages to look at, such that every combination within any one device is among them.

    Devices choose on their own, so the k-th combination of each device is put to all devices at the same time.
    """
    if not stages:
        yield (), problem
        return
    per_device = [[stage for stage in device.stages if stage in stages] for device in problem.devices]
    if max(len(own) for own in per_device) > MOST_CHOICES:
        yield (), relaxed(problem)
        return
    options = [
        [chosen for size in range(len(own) + 1) for chosen in combinations(own, size)] for own in per_device if own
    ]
    for k in range(max(len(option) for option in options)):
        taken = frozenset(stage for option in options for stage in option[min(k, len(option) - 1)])
        yield tuple(sorted(taken)), problem.recompute(taken) if taken else problem


def _need(problem: Problem, pool: int, memories: Sequence[StageMemory], recomputed: Sequence[int]) -> Need:
    limit = problem.pools[pool]
    held = np.zeros(problem.microbatches, dtype=object)
    peak, at = held.copy(), np.zeros(problem.microbatches, dtype=np.int64)

    def run(memory: StageMemory, kind: Kind, level: NDArray[Any]) -> None:
        higher = (level > peak) & memory.takes_time[kind]
        at[higher] = memory.stage
        peak[higher] = level[higher]

    for memory in memories:
        held = held + memory.activation
        run(memory, Kind.F, held + memory.forward_only)
    for memory in reversed(memories):
        kept = memory.until_weight + memory.extra_until_weight
        if memory.backward is not None:
            run(memory, memory.backward, held + memory.extra_until_weight + memory.extra_backward)
        held = held - memory.activation
        run(memory, Kind.W, held + kept)
    worst = int(peak.argmax())
    last = int(at[worst])
    stages = tuple(memory.stage for memory in memories if memory.stage <= last)
    own = problem.devices[limit.device].stages
    amount = limit.base + limit.kept + int(peak[worst])
    return Need(pool, amount, worst, stages, tuple(s for s in recomputed if s in own))
