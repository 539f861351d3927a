"""When one problem asks no more than another: every schedule of the other is one of it, and takes no longer.

The start times are kept. Operations that are shorter, or are not there at all, end earlier; lags that are shorter, and
capacities and deadlines that are larger, still hold. So the least value of the one is at most that of the other. What
each point of a sweep may lend its neighbours rests on this.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crosspipe.problem.operations import NO_DEADLINE, NO_RESOURCE

if TYPE_CHECKING:
    from crosspipe.problem.links import Lane
    from crosspipe.problem.problem import Problem

Name = tuple[int | str, ...]
"""What an operation is, whatever its number: kind, stage, microbatch, replica and leg, or the name of an extra one."""

Counterparts = list[int]
"""For each operation of the easier problem its number in the harder one."""


def relaxes(easier: Problem, harder: Problem) -> bool:
    """Whether every schedule of `harder`, its start times kept, is one of `easier` with no larger value.

    It may say no where the answer is yes, never the other way round.
    """
    if easier.recomputed != harder.recomputed or not _same_shape(easier, harder):
        return False
    counterparts = _counterparts(easier, harder)
    if counterparts is None or not _due_later(easier, harder, counterparts):
        return False
    if not _lanes_shared_less(easier, harder, counterparts):
        return False
    pairs = [(easier, harder)]
    if easier.choices or harder.choices:
        stages = frozenset(choice.stage for choice in easier.choices)
        if stages != {choice.stage for choice in harder.choices} or easier.recomputed:
            return False
        # A stage's option changes only what is its own, so what holds with none and with all of them holds for any.
        pairs.append((easier.recompute(stages), harder.recompute(stages)))
    return all(
        _no_longer(one, other, counterparts)
        and _waits_less(one, other, counterparts)
        and _holds_less(one, other, counterparts)
        for one, other in pairs
    )


def _same_shape(easier: Problem, harder: Problem) -> bool:
    """Whether both place alike stages on alike devices, and keep the same order of microbatches."""
    return (
        easier.traversal == harder.traversal
        and easier.devices == harder.devices
        and [stage.device for stage in easier.stages] == [stage.device for stage in harder.stages]
        and easier.multipliers == harder.multipliers
        and (easier.replicas, easier.merged_replicas) == (harder.replicas, harder.merged_replicas)
        and easier.chains_required == harder.chains_required
        and easier.robust == harder.robust
        and not any(hop.missing for hop in easier.hops)  # nothing is a schedule then
    )


def _names(problem: Problem) -> list[Name]:
    ops, extras = problem.operations, {number: name for name, number in problem.extras}
    columns = (ops.kind, ops.stage, ops.microbatch, ops.replica, ops.leg)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [("extra", extras[number]) if number in extras else row for number, row in enumerate(rows)]


def _counterparts(easier: Problem, harder: Problem) -> Counterparts | None:
    """Find each operation of the easier problem in the harder one; None if one is missing there."""
    numbers = {name: number for number, name in enumerate(_names(harder))}
    found = [numbers.get(name) for name in _names(easier)]
    known = [number for number in found if number is not None]
    return known if len(known) == len(found) else None


def _due_later(easier: Problem, harder: Problem, counterparts: Counterparts) -> bool:
    if easier.due_ns is None:
        return True
    if harder.due_ns is None:
        return bool((easier.due_ns == NO_DEADLINE).all())
    return bool((easier.due_ns >= harder.due_ns[counterparts]).all())


def _lanes_shared_less(easier: Problem, harder: Problem, counterparts: Counterparts) -> bool:
    """Whether what shares a device or lane does so in the harder problem, too, under the same windows."""
    devices = len(easier.devices)
    there: dict[int, int] = {}
    mine, theirs = easier.operations.resource.tolist(), harder.operations.resource[counterparts].tolist()
    for one, other in zip(mine, theirs, strict=True):
        if one == NO_RESOURCE:
            continue
        if one < devices or other < devices:
            if one != other:
                return False
        elif there.setdefault(one, other) != other or not _open_as_long(
            easier.lanes[one - devices], harder.lanes[other - devices]
        ):
            return False
    return True


def _open_as_long(easier: Lane, harder: Lane) -> bool:
    """Whether a shorter transfer that starts at the same time ends no later on the easier lane."""
    if not easier.windows:
        return True
    # Where a lane is merely slower, durations count at its full rate: only at one rate do they compare.
    comparable = easier.rate_bps == harder.rate_bps or all(window.rate_bps == 0 for window in easier.windows)
    return comparable and easier.windows == harder.windows


def _no_longer(easier: Problem, harder: Problem, counterparts: Counterparts) -> bool:
    return bool((easier.operations.duration_ns <= harder.operations.duration_ns[counterparts]).all())


def _waits_less(easier: Problem, harder: Problem, counterparts: Counterparts) -> bool:
    """Whether each wait is one of the harder problem, too, and no longer than there."""
    waits = _waits(harder, set(counterparts))
    rows = easier.precedences
    return all(
        lag <= waits.get((counterparts[before], counterparts[after]), -1)
        for before, after, lag in zip(rows.before.tolist(), rows.after.tolist(), rows.lag_ns.tolist(), strict=True)
    )


def _waits(problem: Problem, kept: set[int]) -> dict[tuple[int, int], int]:
    """Longest wait between operations that are kept, through any that are not."""
    rows, durations = problem.precedences, problem.operations.duration_ns.tolist()
    leaving: dict[int, list[tuple[int, int]]] = {}
    for before, after, lag in zip(rows.before.tolist(), rows.after.tolist(), rows.lag_ns.tolist(), strict=True):
        leaving.setdefault(before, []).append((after, lag))
    waits: dict[tuple[int, int], int] = {}
    for before in kept:
        open_ends = list(leaving.get(before, ()))
        while open_ends:
            after, lag = open_ends.pop()
            if after in kept:
                waits[before, after] = max(lag, waits.get((before, after), -1))
            else:
                through = lag + durations[after]
                open_ends += [(further, through + more) for further, more in leaving.get(after, ())]
    return waits


def _holds_less(easier: Problem, harder: Problem, counterparts: Counterparts) -> bool:
    """Whether each limited pool has as much room, and each pair of operations takes no more of it."""
    pools = {(pool.name, pool.unit, pool.device): number for number, pool in enumerate(harder.pools)}
    mine, theirs = _held(easier), _held(harder)
    for number, pool in enumerate(easier.pools):
        if pool.capacity is None:
            continue
        other = pools.get((pool.name, pool.unit, pool.device))
        if other is None:
            return False
        limit = harder.pools[other]
        if limit.capacity is None or pool.capacity - pool.base < limit.capacity - limit.base:
            return False
        held = theirs.get(other, Counter())
        for (taken, given), amount in mine.get(number, Counter()).items():
            if amount > held[counterparts[taken], counterparts[given]]:
                return False
    return True


def _held(problem: Problem) -> dict[int, Counter[tuple[int, int]]]:
    """Amount held of each pool by the operations that take it and give it back."""
    rows = problem.holdings
    held: dict[int, Counter[tuple[int, int]]] = {}
    columns = (rows.pool, rows.taken_by, rows.given_by, rows.amount)
    for pool, taken, given, amount in zip(*(column.tolist() for column in columns), strict=True):
        held.setdefault(pool, Counter())[taken, given] += amount
    return held
