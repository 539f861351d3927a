"""List scheduling along a periodic order: a device with nothing to run next pulls forward what is ready.

The order a device starts from is that of a building block repeated for every microbatch. Before the rhythm is reached,
while it ends, and wherever messages are late, a device would idle; it then runs something from further down its order.
It does so only if all that it passes over still fits in its room, run in order after it.

Why no run gets stuck: what is left of each order, run as it stands, keeps the room, at the start because the room is at
least what the whole order holds, and later because a pull that would break it is not made. Of all operations left, the
one that comes first in the common time of the blocks waits for nothing, is the next of its device and fits. Waits for
an operation on its way end when it arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from crosspipe.families.building_block import FIRST_W, Slot
from crosspipe.families.squeeze_device import Line, Run

if TYPE_CHECKING:
    from crosspipe.families.squeeze_device import Manner
    from crosspipe.families.v_placement import VPlacement


@dataclass(frozen=True, slots=True)
class Squeezed:
    """What came of a run.

    Attributes
    ----------
    orders
        Per device, pairs (slot, microbatch) as they were run.
    makespan, span
        Last end; most time between first start and last end of a device.
    idle
        Per device, idle time between these.
    """

    orders: list[list[tuple[int, int]]]
    makespan: int
    span: int
    idle: list[int]


class Squeeze:
    """A placement and a block, laid out once for many runs.

    Parameters
    ----------
    placement
        Durations, messages and memory.
    starts
        Start of each slot of a block, per device.
    """

    def __init__(self, placement: VPlacement, starts: list[list[int]]) -> None:
        self._placement = placement
        self._lines = [Line(placement, device, row) for device, row in enumerate(starts)]

    def run(self, manner: Manner) -> Squeezed:
        """Run all devices to the end."""
        following, count = self._placement.following, self._placement.devices
        most_idle = [manner.allowed_idle or 0]
        runs = [Run(line, manner, most_idle) for line in self._lines]
        runs[0].arrival[Slot.F_LOWER] = [0] * self._placement.microbatches
        events = [(0, device) for device in range(count)]
        while events:
            now, device = heappop(events)
            run = runs[device]
            if now < run.free or (place := run.choose(now)) < 0:
                continue
            slot, microbatch = run.start(place, now)
            end = run.free
            heappush(events, (end, device))
            if slot >= FIRST_W:
                continue
            if slot >= Slot.B_UPPER:
                run.arrival[slot + 2][microbatch] = end
            if (then := following[device][slot]) is not None:
                to, next_slot, message = then
                runs[to].arrival[next_slot][microbatch] = at = end + message
                if runs[to].free <= at:
                    heappush(events, (at, to))
        return Squeezed(
            orders=[run.order for run in runs],
            makespan=max(run.free for run in runs),
            span=max(run.free - run.began for run in runs),
            idle=[run.idle for run in runs],
        )
