"""One device while its order is squeezed: what is left of it, what is held, and what to run next."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from crosspipe.families.building_block import FIRST_W, SLOTS, Slot, repeated

if TYPE_CHECKING:
    from crosspipe.families.v_placement import VPlacement

FURTHEST = 500
"""Most places of its order that an operation may be pulled over: to look further takes longer than it gains."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a device fills its time.

    Attributes
    ----------
    yields
        Whether a W lets every F and B go first that is ready and fits. If not, it keeps its place until the device has
        run its last F.
    patience
        Rather idle than run an F or B if one that comes before it arrives within this share of its length.
    weight_patience
        The same for a W; an operation that no other device waits for is not waited for.
    allowed_idle
        Wait only while the device's idle time since its first start stays below this or the most of any device so far;
        None for no such limit.
    """

    yields: bool = False
    patience: float = 0.0
    weight_patience: float = 0.0
    allowed_idle: int | None = None


class Line:
    """The order a device starts from; a place is an index into it."""

    def __init__(self, placement: VPlacement, device: int, starts: list[int]) -> None:
        self.microbatches = placement.microbatches
        self.order = repeated(starts, self.microbatches)
        self.places = [[0] * self.microbatches for _ in SLOTS]
        for place, (slot, microbatch) in enumerate(self.order):
            self.places[slot][microbatch] = place
        self.durations = placement.durations[device]
        self.takes, self.net = placement.takes[device], placement.net[device]
        self.waited_for = [*(then is not None for then in placement.following[device]), True, True]
        self.room = max(placement.room[device], self._peak())

    def _peak(self) -> int:
        """Most that the order holds as it stands."""
        held = most = 0
        for slot, _ in self.order:
            most = max(most, held + self.takes[slot])
            held += self.net[slot]
        return most


class Run:
    """A device during a run: what is left of its order, what it holds, when it is free."""

    def __init__(self, line: Line, manner: Manner, most_idle: list[int]) -> None:
        self.free, self.began, self.idle = 0, -1, 0
        self.order: list[tuple[int, int]] = []
        self.arrival: list[list[float]] = [[inf] * line.microbatches for _ in SLOTS]
        self._line, self._manner = line, manner
        self._most_idle = most_idle
        self._done = bytearray(len(line.order))
        self._head, self._held = 0, 0
        self._next = [0] * len(SLOTS)
        self._forwards_left = 2 * line.microbatches

    def choose(self, now: int) -> int:
        """Find the place of what to start now, -1 to stay idle."""
        order, done, head = self._line.order, self._done, self._head
        while head < len(order) and done[head]:
            head += 1
        self._head = head
        if head == len(order):
            return -1
        slot, microbatch = order[head]
        weights_last = self._manner.yields or not self._forwards_left
        if self.arrival[slot][microbatch] <= now and not (weights_last and slot >= FIRST_W):
            return head
        return self._pull(now, weights_last)

    def _pull(self, now: int, weights_last: bool) -> int:
        """Find what to run though it is not next: in order, W's last if told."""
        line, manner, arrival = self._line, self._manner, self.arrival
        left = [
            (weights_last and slot >= FIRST_W, line.places[slot][microbatch], slot, microbatch)
            for slot, microbatch in enumerate(self._next)
            if microbatch < line.microbatches and arrival[slot][microbatch] < inf
        ]
        left.sort()
        due = inf
        for _, place, slot, microbatch in left:
            at = arrival[slot][microbatch]
            if at > now:
                if at < due and line.waited_for[slot] and self._fits(place, slot):
                    due = at
            elif self._fits(place, slot):
                patience = manner.patience if slot < FIRST_W else manner.weight_patience
                worth_it = due - now < patience * line.durations[slot][microbatch]
                return -1 if worth_it and self._may_idle(due) else place
        return -1

    def _may_idle(self, until: float) -> bool:
        if self._manner.allowed_idle is None:
            return True
        return self.idle + until - self.free <= self._most_idle[0]

    def _fits(self, place: int, slot: int) -> bool:
        """Whether an operation may run before all that its order still has before it."""
        line, held = self._line, self._held
        more = line.net[slot]
        if place == self._head:
            return True
        if held + line.takes[slot] > line.room:
            return False
        if more <= 0:
            return True
        if place - self._head > FURTHEST:
            return False
        order, done, takes, net, limit = line.order, self._done, line.takes, line.net, line.room - more
        for passed in range(self._head, place):
            if not done[passed]:
                slot = order[passed][0]
                if held + takes[slot] > limit:
                    return False
                held += net[slot]
        return True

    def start(self, place: int, now: int) -> tuple[int, int]:
        """Run what stands at a place of the order; returns its slot and microbatch."""
        step = self._line.order[place]
        slot, microbatch = step
        self._done[place] = 1
        self._next[slot] += 1
        self._held += self._line.net[slot]
        if slot <= Slot.F_UPPER:
            self._forwards_left -= 1
        if self.began < 0:
            self.began = now
        else:
            self.idle += now - self.free
            self._most_idle[0] = max(self._most_idle[0], self.idle)
        self.free = now + self._line.durations[slot][microbatch]
        self.order.append(step)
        return step
