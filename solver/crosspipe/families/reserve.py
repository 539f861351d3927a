"""Which starts keep a device free of deadlock by memory, for any sizes of chunks.

Let a microbatch run alone on a device: F of its chunks upward, backwards downward, each W right after its B. `held[k]` is
what it holds after k of these steps (W's not counted as steps), `need[k]` the most it will hold from there on. Younger
microbatches have done no more steps than older ones, as every class of operations runs in index order.

Rule: start a step only if it fits now and, for every older microbatch i on the device that is not through,

    need_i + sum of held over all microbatches younger than i <= room.

Then the oldest microbatch of a replica that is not through can always go on, on every device: run the W's that are owed
(they need nothing but the device), after which the device holds `held` of each microbatch exactly; those older than i
are through and hold nothing; so the rule for i says that the rest of its lone run fits. A step of i itself keeps the
rule, as `need` never grows along a run, and the first step of a microbatch finds no younger one there. So if each
microbatch fits alone (necessary, as its backwards cannot begin before all its F's on the device are done), no state
reached by the rule is dead. The rule of one size per chunk (solver notes 1.2) is the special case without B's extra.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.errors import DoesNotFitError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.families.floor import Chunk
    from crosspipe.problem.problem import Pool, Problem

Amounts = tuple[tuple[int, int], ...]
"""Pairs (limited pool of the device, amount)."""


@dataclass(frozen=True, slots=True, eq=False)
class Reserve:
    """What the limited pools of one device allow; all lists are indexed by the device's own pool number first.

    Attributes
    ----------
    room
        Capacity less what is always held.
    nested
        Pools in which a microbatch that has begun may still need more.
    takes, gives
        Per operation, what it takes at its start and gives back at its end.
    steps
        Per operation, its number in the lone run.
    held, need
        `[pool][microbatch][k]` as in the module's text.
    """

    room: tuple[int, ...]
    nested: tuple[int, ...]
    takes: Mapping[int, Amounts]
    gives: Mapping[int, Amounts]
    steps: Mapping[int, int]
    held: Sequence[Sequence[Sequence[int]]]
    need: Sequence[Sequence[Sequence[int]]]

    @classmethod
    def of(cls, problem: Problem, device: int, chunks: Sequence[Chunk]) -> Reserve | None:
        """Read a device's pools; None if none is limited.

        Raises
        ------
        DoesNotFitError
            If a microbatch does not fit alone.
        """
        limited = [
            (number, pool)
            for number, pool in enumerate(problem.pools)
            if pool.device == device and pool.capacity is not None
        ]
        if not limited:
            return None
        takes, gives = _changes(problem, {number: own for own, (number, _) in enumerate(limited)})
        runs = [_lone_run(chunks, microbatch) for microbatch in range(problem.microbatches)]
        room = [(pool.capacity or 0) - pool.base for _, pool in limited]
        held: list[list[list[int]]] = []
        need: list[list[list[int]]] = []
        for own, (_, pool) in enumerate(limited):
            profiles = [_profile(run, own, takes, gives) for run in runs]
            held.append([profile[0] for profile in profiles])
            need.append([profile[1] for profile in profiles])
            worst = max(range(len(runs)), key=lambda j, own=own: need[own][j][0])  # type: ignore[misc]
            if need[own][worst][0] > room[own]:
                raise DoesNotFitError(_too_small(problem, device, pool, need[own][worst][0], worst))
        nested = tuple(
            own
            for own in range(len(limited))
            if any(more > now for j in range(len(runs)) for more, now in zip(need[own][j][1:], held[own][j][1:], strict=True))
        )
        steps = {operation: k for run in runs for k, (operation, _) in enumerate(run)}
        return cls(tuple(room), nested, takes, gives, steps, held, need)


def _changes(problem: Problem, own: Mapping[int, int]) -> tuple[dict[int, Amounts], dict[int, Amounts]]:
    takes: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    gives: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    held = problem.holdings
    columns = (held.pool.tolist(), held.taken_by.tolist(), held.given_by.tolist(), held.amount.tolist())
    for pool, taken_by, given_by, amount in zip(*columns, strict=True):
        if pool in own and amount:
            takes[taken_by][own[pool]] += amount
            gives[given_by][own[pool]] += amount
    return (
        {operation: tuple(sorted(amounts.items())) for operation, amounts in takes.items()},
        {operation: tuple(sorted(amounts.items())) for operation, amounts in gives.items()},
    )


def _lone_run(chunks: Sequence[Chunk], microbatch: int) -> list[tuple[int, int | None]]:
    """Steps of a microbatch alone: (F or backward, the W right after it if any)."""
    run: list[tuple[int, int | None]] = [(chunk.forward[microbatch], None) for chunk in chunks]
    for chunk in reversed(chunks):
        if chunk.backward:
            run.append((chunk.backward[microbatch], chunk.weight[microbatch] if chunk.weight else None))
    return run


def _profile(
    run: Sequence[tuple[int, int | None]], own: int, takes: Mapping[int, Amounts], gives: Mapping[int, Amounts]
) -> tuple[list[int], list[int]]:
    now, held, peak = 0, [0], []
    for step, weight in run:
        now += dict(takes.get(step, ())).get(own, 0)
        peak.append(now)
        now -= dict(gives.get(step, ())).get(own, 0)
        if weight is not None:
            now -= dict(gives.get(weight, ())).get(own, 0)
        held.append(now)
    need = held.copy()
    for k in range(len(run) - 1, -1, -1):
        need[k] = max(held[k], peak[k], need[k + 1])
    return held, need


def _too_small(problem: Problem, device: int, pool: Pool, needs: int, microbatch: int) -> str:
    where = problem.resource_name(device)
    if pool.unit != "bytes":
        return f"one microbatch does not fit: {pool.name} on {where} is limited to {pool.capacity}"
    return (
        f"one microbatch alone does not fit on {where}: microbatch {microbatch} needs {(needs + pool.base) / 1e6:.0f} MB "
        f"({pool.base / 1e6:.0f} MB of it static), has {(pool.capacity or 0) / 1e6:.0f} MB"
    )
