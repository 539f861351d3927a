"""Shares of memory: how full the fullest device gets, and problems with less memory everywhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, gcd
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.bounds.memory_need import memory_needs
from crosspipe.bounds.stage_memory import stage_memories
from crosspipe.schedule.measure import peaks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

MOST_LEVELS = 20_000
"""Sums of amounts that are listed at most."""

Limits = dict[int, int]
"""Bytes by number of the pool."""


@dataclass(frozen=True, slots=True)
class Fullest:
    """The device whose memory is fullest at its peak, relative to what it has.

    Attributes
    ----------
    share
        Peak / capacity, static memory in both.
    pool
        Number of its pool.
    amount
        The peak, bytes.
    """

    share: Fraction
    pool: int
    amount: int


def capacities(problem: Problem) -> Limits:
    """Memory of every device that has a limit; caps on microbatches in flight are wishes, not room to be left."""
    return {
        number: pool.capacity
        for number, pool in enumerate(problem.pools)
        if pool.unit == "bytes" and pool.capacity is not None and pool.capacity > 0
    }


def fullest(problem: Problem, schedule: Schedule) -> Fullest | None:
    """Find the fullest device of a schedule, the first of equals; None where no memory is limited."""
    held = peaks(problem, schedule)
    found = [
        Fullest(Fraction(held[pool].amount, capacity), pool, held[pool].amount)
        for pool, capacity in capacities(problem).items()
    ]
    return max(found, key=lambda full: full.share, default=None)


def least_share(problem: Problem) -> Fraction:
    """Share below which some device cannot hold even one microbatch."""
    limits = capacities(problem)
    return max(
        (Fraction(need.amount, limits[need.pool]) for need in memory_needs(problem) if need.pool in limits),
        default=Fraction(0),
    )


def up_to(problem: Problem, share: Fraction) -> Limits:
    """Most bytes of every device that are no larger share of its memory."""
    return {pool: int(share * capacity) for pool, capacity in capacities(problem).items()}


def below(problem: Problem, share: Fraction) -> Limits:
    """Most bytes of every device that are a smaller share of its memory."""
    return {pool: ceil(share * capacity) - 1 for pool, capacity in capacities(problem).items()}


def cut(problem: Problem, limits: Mapping[int, int]) -> Problem:
    """Give the problem with these limits in place of its own."""
    pools = tuple(
        replace(pool, capacity=limits[number]) if number in limits else pool
        for number, pool in enumerate(problem.pools)
    )
    return replace(problem, pools=pools)


def share_beyond(problem: Problem, limits: Limits) -> Fraction:
    """Least share of a schedule that breaks one of these limits: of the next amounts that its devices may hold."""
    levels = next_levels(problem, limits)
    return min(Fraction(level, capacity) for level, capacity in zip(levels, capacities(problem).values(), strict=True))


def next_levels(problem: Problem, limits: Limits) -> tuple[int, ...]:
    """Least amount above each limit that the device may hold; limits with the same are broken by the same schedules."""
    return tuple(_next_level(problem, pool, limit) for pool, limit in limits.items())


def _next_level(problem: Problem, pool: int, limit: int) -> int:
    """Least amount above a limit that a pool may hold, or one below that.

    Of each microbatch on each stage of the device either nothing is held, or what F takes, or what waits for W; and of
    one, while its B runs, what F takes and what only the backward takes. Where these sums are too many to list, or
    recompute options are open, amounts grow in steps of the common divisor of all that is ever taken.
    """
    base = problem.pools[pool].base + problem.pools[pool].kept
    if limit < base:
        return base
    room = limit - base
    unlike = problem.gathered[pool] != problem.pools[pool].kept  # gathered weights are held for a part of the time
    levels = None if unlike or (problem.choices and not problem.recomputed) else _levels(problem, pool, room)
    if levels is not None:
        return base + max(int(levels[-1]), room + 1)
    step = _step(problem, pool)
    return base + (room // step + 1) * step


def _levels(problem: Problem, pool: int, room: int) -> IntArray | None:
    """All amounts that may be held beside the static, up to the first above `room`; None where they are too many."""
    sums, running = np.zeros(1, dtype=np.int64), [0]
    for memory in stage_memories(problem):
        if memory.pool != pool:
            continue
        kept = memory.until_weight + memory.extra_until_weight
        extras = (memory.forward_only, memory.extra_until_weight + memory.extra_backward)
        running += [extra for extras_of in extras for extra in np.unique(extras_of).tolist()]
        pairs, counts = np.unique(np.stack([memory.activation, kept], axis=1), axis=0, return_counts=True)
        for (active, waiting), count in zip(pairs.tolist(), counts.tolist(), strict=True):
            own = _sums(active, waiting, count, room)
            if len(own) * len(sums) > MOST_LEVELS:
                return None
            sums = _distinct(np.add.outer(sums, own), room)
    return _distinct(np.add.outer(sums, np.array(running, dtype=np.int64)), room)


def _sums(active: int, waiting: int, count: int, room: int) -> IntArray:
    """Add up what up to `count` microbatches hold, each nothing, `active` or `waiting`."""
    actives = _multiples(active, count, room)
    found = []
    for number, held in enumerate(actives.tolist()):
        found.append(held + _multiples(waiting, count - number, room))
    return _distinct(np.concatenate(found), room)


def _multiples(amount: int, count: int, room: int) -> IntArray:
    """0, 1, ... `count` times an amount, no further than to the first above `room`."""
    most = min(count, room // amount + 1) if amount else 0
    return amount * np.arange(most + 1, dtype=np.int64)


def _distinct(amounts: IntArray, room: int) -> IntArray:
    """Sort amounts, each once; of those above `room` only the least is kept."""
    levels = np.unique(amounts)
    return levels[: int(np.searchsorted(levels, room, side="right")) + 1]


def _step(problem: Problem, pool: int) -> int:
    held = problem.holdings.pool == pool
    amounts = set(np.unique(problem.holdings.amount[held]).tolist())
    for choice in problem.choices:
        amounts.update(choice.amounts[held[choice.holdings]].tolist())
    return gcd(*amounts) or 1
