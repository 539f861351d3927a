"""Where devices wait, and for what: every idle stretch of a device is given to one cause, so that the parts add up.

While a device waits for the input of its next operation, the wait is that of the message's way, followed back: latency,
time on the lane, time in the lane's queue, and before that the work of the device that sends it. Where meanwhile a
forward was ready on the device and its memory (or number in flight) had no room for it, the wait is for memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.accounts.models import DeviceAccount, IdlePart
from crosspipe.answer.units import to_ms
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.accounts.models import IdleKind
    from crosspipe.accounts.timeline import Timeline
    from crosspipe.problem.operations import IntArray


@dataclass(frozen=True, slots=True)
class Wait:
    """An idle stretch with one cause."""

    kind: IdleKind
    where: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class _Pool:
    """A limited pool of a device: what it holds when, and what each operation takes from it at its start."""

    name: str
    room: int
    taken_ns: IntArray
    given_ns: IntArray
    amount: IntArray
    takes: dict[int, int]

    def has_room(self, operation: int, at_ns: int) -> bool:
        """Whether an operation would find room at a moment."""
        needs = self.takes.get(operation, 0)
        held = int(self.amount[(self.taken_ns <= at_ns) & (self.given_ns > at_ns)].sum())
        return needs == 0 or held + needs <= self.room


def device_accounts(timeline: Timeline, makespan_ns: int) -> list[DeviceAccount]:
    """Give every device's idle time to its causes; `makespan_ns` is that of the schedule as it was given."""
    found = []
    for number, device in enumerate(timeline.problem.devices):
        rows = timeline.orders.sequences[number].tolist()
        busy = sum(timeline.end[row] - timeline.start[row] for row in rows if timeline.kind(row).is_compute)
        sums: dict[tuple[IdleKind, str], int] = {}
        for wait in waits(timeline, number, makespan_ns):
            sums[wait.kind, wait.where] = sums.get((wait.kind, wait.where), 0) + wait.end_ns - wait.start_ns
        ranked = sorted(sums.items(), key=lambda row: -row[1])
        found.append(
            DeviceAccount(
                device=device.name,
                replica=device.replica,
                busy_ms=to_ms(busy),
                idle_ms=to_ms(makespan_ns - busy),
                idle=[IdlePart(kind=kind, where=where, ms=to_ms(length)) for (kind, where), length in ranked],
            )
        )
    return found


def waits(timeline: Timeline, device: int, makespan_ns: int) -> Iterator[Wait]:
    """List the idle stretches of a device in order of time."""
    rows: list[int] = timeline.orders.sequences[device].tolist()
    pools = _pools(timeline, device)
    now, begun = 0, False
    for place, row in enumerate(rows):
        start, compute = timeline.start[row], timeline.kind(row).is_compute
        if start > now:
            if begun:
                yield from _between(timeline, rows[place:], now, pools)
            else:
                yield Wait("warm_up", "", now, start)
        if not compute and timeline.end[row] > start:
            yield Wait("extra", timeline.problem.label(row).removeprefix("extra operation "), start, timeline.end[row])
        now, begun = timeline.end[row], begun or compute
    if timeline.makespan_ns > now:
        yield Wait("cool_down", "", now, timeline.makespan_ns)
    if makespan_ns > timeline.makespan_ns:
        yield Wait("delay", "", timeline.makespan_ns, makespan_ns)


def _between(timeline: Timeline, rest: Sequence[int], now: int, pools: Sequence[_Pool]) -> Iterator[Wait]:
    """Give the wait before the first of the operations that are left to its causes."""
    until = timeline.start[rest[0]]
    full = _full_from(timeline, rest, now, pools)
    if full is not None:
        yield Wait("memory", full[1], full[0], until)
        until = full[0]
    for wait in _way_back(timeline, rest[0]):
        start, end = max(now, wait.start_ns), min(until, wait.end_ns)
        if end > start:
            yield Wait(wait.kind, wait.where, start, end)


def _full_from(timeline: Timeline, rest: Sequence[int], now: int, pools: Sequence[_Pool]) -> tuple[int, str] | None:
    """Find from when on a forward was ready that found no room, and the pool that had none."""
    until = timeline.start[rest[0]]
    stages: set[tuple[int, int]] = set()
    ops = timeline.problem.operations
    found: list[tuple[int, str]] = []
    for row in rest:
        if timeline.kind(row) is not Kind.F:
            continue
        key = int(ops.stage[row]), int(ops.replica[row])
        if key in stages:
            continue
        stages.add(key)
        ready = max(now, timeline.input_ns(row))
        if ready < until:
            found += [(ready, pool.name) for pool in pools if not pool.has_room(row, ready)][:1]
    return min(found, default=None)


def _way_back(timeline: Timeline, operation: int) -> Iterator[Wait]:
    """Follow the input of an operation back to the device that sends it, from its start back to time 0."""
    until, here = timeline.start[operation], operation
    while True:
        cause = timeline.input(here)
        if cause is None:
            yield Wait("upstream", "", 0, until)
            return
        sent = timeline.end[cause.operation]
        if timeline.there_ns(cause) > sent:
            yield Wait("latency", timeline.link(cause.operation), sent, timeline.there_ns(cause))
        here = cause.operation
        kind = timeline.kind(here)
        if not kind.is_transfer:
            where = timeline.problem.label(here) if kind is Kind.EXTRA else timeline.place(here)
            yield Wait("upstream", where, 0, sent)
            return
        start, ready, lane = timeline.start[here], timeline.ready_ns(here), timeline.place(here)
        yield Wait("transfer", lane, start, sent)
        yield Wait("closed", lane, ready, start)
        yield Wait("queue", lane, timeline.input_ns(here), ready)
        until = timeline.input_ns(here)


def _pools(timeline: Timeline, device: int) -> list[_Pool]:
    """Gather the limited pools of a device."""
    problem, held = timeline.problem, timeline.problem.holdings
    start, end = np.array(timeline.start, dtype=np.int64), np.array(timeline.end, dtype=np.int64)
    found = []
    for number, pool in enumerate(problem.pools):
        if pool.device != device or pool.capacity is None:
            continue
        rows = np.flatnonzero(held.pool == number)
        takes: dict[int, int] = {}
        for row in rows.tolist():
            taker = int(held.taken_by[row])
            takes[taker] = takes.get(taker, 0) + int(held.amount[row])
        found.append(
            _Pool(
                pool.name,
                pool.capacity - pool.base,
                start[held.taken_by[rows]],
                end[held.given_by[rows]],
                held.amount[rows],
                takes,
            )
        )
    return found


__all__ = ["Wait", "device_accounts", "waits"]
