"""One device during a pass of list scheduling: what it holds, how far it is, and its rules for what to run next."""

from __future__ import annotations

from math import ceil, inf
from typing import TYPE_CHECKING

from crosspipe.families.settings import Keep, Rule
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.families.floor import Floor
    from crosspipe.families.reserve import Reserve
    from crosspipe.families.settings import Settings

NONE = -1


class Desk:
    """State of one device.

    `ready` (earliest start so far), `waits` (predecessors left) and `most_idle` (longest idle time of any device since
    its first start) belong to the pass.
    """

    def __init__(
        self,
        floor: Floor,
        device: int,
        settings: Settings,
        ready: list[int],
        waits: list[int],
        most_idle: list[int],
    ) -> None:
        station = floor.stations[device]
        self.free = 0
        self.running = NONE
        self.sequence: list[int] = []
        self.extras: list[int] = []
        self._floor, self._ready, self._waits = floor, ready, waits
        self._rule, self._keep, self._level = settings.rule, settings.keep, settings.level
        self._idle, self._most_idle = 0, most_idle
        self._patience = round(settings.patience * station.unit_ns)
        self._gap = round(settings.gap * station.unit_ns)
        self._most_owed = inf if settings.owed is None else settings.owed + settings.owed_by_rank * station.index
        self._forward = [chunk.forward for chunk in station.chunks]
        self._backward = [chunk.backward for chunk in station.chunks]
        self._weight = [chunk.weight for chunk in station.chunks]
        self._chunks = range(len(station.chunks))
        self._depth = [_depth(floor, chunk.forward, bool(chunk.backward), settings) for chunk in station.chunks]
        self._next_f = [0] * len(station.chunks)
        self._next_b = [0] * len(station.chunks)
        self._next_w = [0] * len(station.chunks)
        self._owed = 0
        self._last_forward = False
        self._reserve = station.reserve
        self._mem = [0] * len(station.reserve.room) if station.reserve else []
        self._steps_done = [0] * floor.microbatches
        self._all_steps = sum(1 + bool(chunk.backward) for chunk in station.chunks)
        self._oldest, self._youngest = 0, -1

    def decide(self, key: list[float], now: int) -> int:
        """Choose the operation to start now, NONE to stay idle until something arrives."""
        self._settle()
        if self.extras and (urgent := self._extra(now, urgent=True)) != NONE:
            return urgent
        if self._owed > self._most_owed and (weight := self._pay()) != NONE:
            return weight
        waits, ready, count = self._waits, self._ready, self._floor.microbatches
        f = b = NONE
        # What arrives within the horizon counts as here; beyond it, only as the next arrival known.
        horizon = now + self._patience
        f_at: float = inf
        f_near: float = inf
        b_at: float = inf
        b_near: float = inf
        blocked = False
        for c in self._chunks:
            j = self._next_b[c]
            if j < count and (ops := self._backward[c]) and not waits[op := ops[j]]:
                at = max(ready[op], now)
                near = now if at <= horizon else at
                if near < b_near or (near == b_near and key[op] < key[b]):
                    if self._allowed(op, j):
                        b, b_at, b_near = op, at, near
                    elif at == now:
                        blocked = True
            j = self._next_f[c]
            if j < count and not waits[op := self._forward[c][j]]:
                at = max(ready[op], now)
                near = now if at <= horizon else at
                better = near < f_near or (near == f_near and key[op] < key[f])
                if better and j - self._next_b[c] < self._depth[c]:
                    if self._allowed(op, j):
                        f, f_at, f_near = op, at, near
                    elif at == now:
                        blocked = True
        rule = self._rule
        if rule == Rule.BACKWARD:
            backward_first = True
        elif rule == Rule.FORWARD:
            backward_first = False
        elif rule == Rule.ALTERNATE:
            backward_first = self._last_forward
        else:
            backward_first = f == NONE or (b != NONE and key[b] <= key[f])
        first, first_at, second, second_at = (b, b_at, f, f_at) if backward_first else (f, f_at, b, b_at)
        if first_at <= now:
            return first
        if blocked and self._owed and (second_at > now or not backward_first) and (weight := self._pay()) != NONE:
            return weight
        if second_at <= now and first_at > horizon:
            return second
        if self._owed and self._worth_a_weight(now, min(first_at, second_at)) and (weight := self._pay()) != NONE:
            return weight
        return self._extra(now, urgent=False) if self.extras and not self._owed else NONE

    def start(self, op: int, now: int) -> None:
        """Take what the operation takes and move on."""
        if self.sequence:
            self._idle += now - self.free
            self._most_idle[0] = max(self._most_idle[0], self._idle)
        self.free = now + self._floor.duration[op]
        self.running = op
        self.sequence.append(op)
        kind = self._floor.kind[op]
        if kind == Kind.EXTRA:
            self.extras.remove(op)
            return
        if self._reserve is not None:
            for pool, amount in self._reserve.takes.get(op, ()):
                self._mem[pool] += amount
        c = self._floor.chunk[op]
        if kind == Kind.W:
            self._next_w[c] += 1
            self._owed -= 1
            return
        j = self._floor.position[op]
        if kind == Kind.F:
            self._next_f[c] += 1
            self._last_forward = True
        else:
            self._next_b[c] += 1
            self._last_forward = False
            if self._weight[c]:
                self._owed += 1
        self._steps_done[j] += 1
        self._youngest = max(self._youngest, j)
        while self._oldest < len(self._steps_done) and self._steps_done[self._oldest] == self._all_steps:
            self._oldest += 1

    def _worth_a_weight(self, now: int, arrival: float) -> bool:
        """Whether to run a W though something arrives before long."""
        if arrival >= now + self._gap:
            return True
        return self._level and bool(self.sequence) and self._idle + arrival - now > self._most_idle[0]

    def _settle(self) -> None:
        op = self.running
        if op != NONE:
            self.running = NONE
            if self._reserve is not None:
                for pool, amount in self._reserve.gives.get(op, ()):
                    self._mem[pool] -= amount

    def _extra(self, now: int, *, urgent: bool) -> int:
        """Find a ready extra operation; urgent ones are those that something waits for."""
        for op in self.extras:
            if self._ready[op] <= now and bool(self._floor.successors[op]) == urgent:
                return op
        return NONE

    def _pay(self) -> int:
        """Find the W owed by the oldest microbatch."""
        best, oldest = NONE, self._floor.microbatches
        for c in self._chunks:
            j = self._next_w[c]
            if j < oldest and (ops := self._weight[c]) and not self._waits[ops[j]]:
                best, oldest = ops[j], j
        return best

    def _allowed(self, op: int, j: int) -> bool:
        """Whether the step fits now and leaves a way out (see `reserve`)."""
        reserve = self._reserve
        if reserve is None:
            return True
        takes = reserve.takes.get(op)
        if not takes:
            return True
        mem, room = self._mem, reserve.room
        for pool, amount in takes:
            if mem[pool] + amount > room[pool]:
                return False
        return all(self._way_out(reserve, pool, op, j) for pool in reserve.nested)

    def _way_out(self, reserve: Reserve, pool: int, op: int, j: int) -> bool:
        held, need, room = reserve.held[pool], reserve.need[pool], reserve.room[pool]
        done, step = self._steps_done, reserve.steps[op]
        younger = held[j][step + 1] - held[j][step]
        if self._keep != Keep.ALL and self._mem[pool] + max(younger, 0) + reserve.most[pool] <= room:
            return True  # room even for a whole microbatch beside all that is held
        for i in range(j, self._youngest + 1):
            younger += held[i][done[i]]
        for i in range(j - 1, self._oldest - 1, -1):
            if younger + need[i][done[i]] > room:
                return False
            younger += held[i][done[i]]
        if self._keep == Keep.OLDEST or j == self._oldest:
            return True
        kept = need[j][step] - held[j][step]
        if self._keep == Keep.ALL:
            for i in range(self._oldest, self._youngest + 1):
                if i != j:
                    kept += need[i][done[i]] - held[i][done[i]]
        return self._mem[pool] + kept <= room


def _depth(floor: Floor, forward: list[int], has_backward: bool, settings: Settings) -> float:
    if settings.depth is None or not has_backward or not floor.period:
        return inf
    return max(1, ceil(settings.depth * floor.round_trip[forward[0]] / floor.period))
