"""Which starts keep a device free of deadlock by memory, for any sizes of chunks.

Let a microbatch run alone on a device: F of its chunks upward, backwards downward, each W right after its B. `held[k]`
is what it holds after k of these steps (W's not counted as steps), `need[k]` the most it will hold from there on.
Younger microbatches have done no more steps than older ones, as every class of operations runs in one order.

Rule: start a step only if it fits now and, for every older microbatch i on the device that is not through,

    need_i + sum of held over all microbatches younger than i <= room.

Then the oldest microbatch of a replica that is not through can always go on, on every device: run the W's that are owed
(they need nothing but the device), after which the device holds `held` of each microbatch exactly; those older than i
are through and hold nothing; so the rule for i says that the rest of its lone run fits. A step of i itself keeps the
rule, as `need` never grows along a run, and the first step of a microbatch finds no younger one there. So if each
microbatch fits alone (necessary, as its backwards cannot begin before all its F's on the device are done), no state
reached by the rule is dead. For chunks of one size a on a device, "start F if what is held + a (1 + later chunks) fits"
is enough as well (`Keep.STARTER`) but asks for more: it keeps room beside what older microbatches will have given back.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.errors import DoesNotFitError
from crosspipe.families.amounts import megabytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.families.chunk import Chunk
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
    most
        Largest `need` of any microbatch, per pool.
    """

    room: tuple[int, ...]
    nested: tuple[int, ...]
    takes: Mapping[int, Amounts]
    gives: Mapping[int, Amounts]
    steps: Mapping[int, int]
    held: Sequence[Sequence[Sequence[int]]]
    need: Sequence[Sequence[Sequence[int]]]
    most: tuple[int, ...]

    @classmethod
    def of(cls, problem: Problem, device: int, chunks: Sequence[Chunk], changes: Changes) -> Reserve | None:
        """Read a device's pools; None if none is limited.

        Raises
        ------
        DoesNotFitError
            If a microbatch does not fit alone.
        """
        numbers = [n for n, pool in enumerate(problem.pools) if pool.device == device and pool.capacity is not None]
        if not numbers:
            return None
        pools = [problem.pools[number] for number in numbers]
        runs = [_lone_run(chunks, position) for position in range(problem.microbatches)]
        # Gathered weights count as held throughout, which for most problems they are (`Pool.kept`).
        base = [pool.base + problem.gathered[number] for number, pool in zip(numbers, pools, strict=True)]
        room = [(pool.capacity or 0) - held for held, pool in zip(base, pools, strict=True)]
        held: list[list[list[int]]] = []
        need: list[list[list[int]]] = []
        most: list[int] = []
        for own, pool in enumerate(pools):
            # Identical microbatches share one profile.
            profiles = [_profile(run, own, changes) for run in (runs[:1] if problem.identical else runs)]
            profiles *= len(runs) if problem.identical else 1
            held.append([profile[0] for profile in profiles])
            need.append([profile[1] for profile in profiles])
            most.append(max(profile[1][0] for profile in profiles))
            if most[own] > room[own]:
                raise DoesNotFitError(_too_small(problem, pool, base[own], most[own]))
        nested = tuple(
            own for own in range(len(pools)) if any(_grows(h, n) for h, n in zip(held[own], need[own], strict=True))
        )
        steps = {operation: k for run in runs for k, (operation, _) in enumerate(run)}
        return cls(tuple(room), nested, changes.takes, changes.gives, steps, held, need, tuple(most))


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """What each operation takes at its start and gives back at its end, of the limited pools of its device."""

    takes: Mapping[int, Amounts]
    gives: Mapping[int, Amounts]


def changes_of(problem: Problem) -> Changes:
    """Collect the holdings of limited pools, the pools numbered within their device."""
    own: dict[int, int] = {}
    seen: Counter[int] = Counter()
    for number, pool in enumerate(problem.pools):
        if pool.capacity is not None:
            own[number] = seen[pool.device]
            seen[pool.device] += 1
    takes: dict[int, Counter[int]] = defaultdict(Counter)
    gives: dict[int, Counter[int]] = defaultdict(Counter)
    held = problem.holdings
    columns = (held.pool.tolist(), held.taken_by.tolist(), held.given_by.tolist(), held.amount.tolist())
    for pool_number, taken_by, given_by, amount in zip(*columns, strict=True):
        if amount and pool_number in own:
            takes[taken_by][own[pool_number]] += amount
            gives[given_by][own[pool_number]] += amount
    return Changes(
        {operation: tuple(sorted(amounts.items())) for operation, amounts in takes.items()},
        {operation: tuple(sorted(amounts.items())) for operation, amounts in gives.items()},
    )


def _lone_run(chunks: Sequence[Chunk], position: int) -> list[tuple[int, int | None]]:
    """List the steps of a microbatch alone: (F or backward, the W right after it if any)."""
    run: list[tuple[int, int | None]] = [(chunk.forward[position], None) for chunk in chunks]
    for chunk in reversed(chunks):
        if chunk.backward:
            run.append((chunk.backward[position], chunk.weight[position] if chunk.weight else None))
    return run


def _profile(run: Sequence[tuple[int, int | None]], own: int, changes: Changes) -> tuple[list[int], list[int]]:
    """Find what a lone run holds after each number of steps, and the most it holds from there on."""
    now, held, peak = 0, [0], []
    for step, weight in run:
        now += _amount(changes.takes, step, own)
        peak.append(now)
        now -= _amount(changes.gives, step, own)
        if weight is not None:
            now -= _amount(changes.gives, weight, own)
        held.append(now)
    need = held.copy()
    for k in range(len(run) - 1, -1, -1):
        need[k] = max(held[k], peak[k], need[k + 1])
    return held, need


def _amount(changes: Mapping[int, Amounts], operation: int, own: int) -> int:
    return next((amount for pool, amount in changes.get(operation, ()) if pool == own), 0)


def _grows(held: Sequence[int], need: Sequence[int]) -> bool:
    """Whether a microbatch that has begun may need more than it holds."""
    return any(more > now for more, now in zip(need[1:], held[1:], strict=True))


def _too_small(problem: Problem, pool: Pool, base: int, needs: int) -> str:
    where = problem.resource_name(pool.device)
    if pool.unit != "bytes":
        return f"one microbatch alone exceeds {pool.name} ({where}), limited to {pool.capacity}"
    return (
        f"one microbatch alone needs {megabytes(needs + base)} MB on {where} ({megabytes(base)} MB of it "
        f"{'static' if base == pool.base else 'static or gathered'}), has {megabytes(pool.capacity or 0)} MB"
    )
