"""One pass of list scheduling: devices decide whenever they fall idle or something arrives for them."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from crosspipe.errors import DoesNotFitError
from crosspipe.families.amounts import milliseconds
from crosspipe.families.desk import NONE, Desk
from crosspipe.families.settings import Prefer, Rule
from crosspipe.families.slots import LaneSlots
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.families.floor import Floor
    from crosspipe.families.settings import Settings
    from crosspipe.problem.links import Lane


def dispatch(floor: Floor, lanes: Sequence[Lane], settings: Settings) -> list[list[int]]:
    """Schedule everything once; returns one sequence of operations per device and lane.

    Raises
    ------
    DoesNotFitError
        If a lane never again opens for long enough, or nothing safe is left to start (which the rule of `reserve`
        excludes for well-formed problems).
    """
    return _Pass(floor, lanes, settings).run()


class _Pass:
    def __init__(self, floor: Floor, lanes: Sequence[Lane], settings: Settings) -> None:
        self._floor = floor
        self._lanes = lanes
        self._slots = [LaneSlots(lane) for lane in lanes]
        self._ready = _first_ready(floor, settings)
        self._waits = floor.waits.copy()
        self._begun = [NONE] * floor.operations if floor.earlier else []
        self._key = _keys(floor, settings)
        idle = [0]
        self._desks = [Desk(floor, d, settings, self._ready, self._waits, idle) for d in range(floor.devices)]
        self._events: list[int] = []

    def run(self) -> list[list[int]]:
        floor, desks, events, key = self._floor, self._desks, self._events, self._key
        devices, duration = floor.devices, floor.duration
        events.extend(range(devices))
        for op in floor.sources:
            self._arrive(op, 0)
        heapify(events)
        while events:
            now, device = divmod(heappop(events), devices)
            desk = desks[device]
            if now < desk.free:
                continue
            op = desk.decide(key, now)
            if op != NONE:
                desk.start(op, now)
                heappush(events, (now + duration[op]) * devices + device)
                self._release(op, now + duration[op], now)
        sequences = [desk.sequence for desk in desks] + [slots.sequence() for slots in self._slots]
        if sum(map(len, sequences)) != floor.on_resources:
            raise DoesNotFitError("the greedy is left with no operation that is safe to start")
        return sequences

    def _release(self, op: int, end: int, now: int) -> None:
        """Tell the successors of an operation when it ends; those with nothing else to wait for arrive."""
        ready, waits = self._ready, self._waits
        for after, lag in self._floor.successors[op]:
            ready[after] = max(ready[after], end + lag)
            waits[after] -= 1
            if not waits[after]:
                self._arrive(after, now)

    def _arrive(self, op: int, now: int) -> None:
        floor, at = self._floor, self._ready[op]
        where = floor.resource[op]
        if where < 0:
            self._release(op, at + floor.duration[op], now)
        elif where >= floor.devices:
            self._send(op, where - floor.devices, at, now)
        else:
            desk = self._desks[where]
            if floor.kind[op] == Kind.EXTRA:
                desk.extras.append(op)
            if at > desk.free or desk.free <= now:
                heappush(self._events, at * floor.devices + where)

    def _send(self, op: int, lane: int, at: int, now: int) -> None:
        floor = self._floor
        if self._begun and (earlier := floor.earlier[op]) != NONE:
            at = max(at, self._begun[earlier])
        slot = self._slots[lane].place(op, at, floor.duration[op])
        if slot is None:
            name = self._lanes[lane].name
            length = f"{milliseconds(floor.duration[op])} ms"
            raise DoesNotFitError(
                f"lane {name} never again opens for a message of {length} that is ready at {milliseconds(at)} ms"
            )
        if self._begun:
            self._begun[op] = slot[0]
        self._release(op, slot[1], now)


def _first_ready(floor: Floor, settings: Settings) -> list[int]:
    ready = [0] * floor.operations
    if settings.pace > 0:
        step = settings.pace * floor.period
        for op in floor.sources:
            if floor.kind[op] == Kind.F:
                ready[op] = round(step * floor.position[op])
    return ready


def _keys(floor: Floor, settings: Settings) -> list[float]:
    """Rank of each operation among those of its device, low first; the last entry stands for no operation."""
    key: list[float] = [0.0] * (floor.operations + 1)
    if settings.rule == Rule.LATEST_START:
        step = settings.slope * floor.period
        for op in range(floor.operations):
            key[op] = step * floor.position[op] - floor.tail[op] - floor.duration[op]
        return key
    for station in floor.stations:
        chunks = len(station.chunks)
        for c, chunk in enumerate(station.chunks):
            late = chunks - 1 - c if settings.prefer != Prefer.NEAREST else c
            for row, rank in ((chunk.forward, late), (chunk.backward, chunks - 1 - late)):
                for j, op in enumerate(row):
                    key[op] = j * chunks + rank if settings.prefer == Prefer.OLDEST else rank
    return key
