"""Building blocks (Qi et al., arXiv 2405.15362): one microbatch's way through a V placement, repeated every six units.

Device i of p holds stage i, the lower, and stage 2p - 1 - i, the upper. Every operation takes one unit; a device runs
six of them for each microbatch, so a block may be repeated every six units if no two of its operations on a device
start at the same moment modulo six. How far apart neighbours start sets how long an activation is held, and with it the
memory; it also sets how long a message may take before the rhythm slows down.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from crosspipe.problem.operations import Kind

PERIOD = 6
"""Units of work of a device for one microbatch, and of time between two of them."""


class Slot(IntEnum):
    """An operation of a microbatch on a device, in the order in which they come along a block."""

    F_LOWER = 0
    F_UPPER = 1
    B_UPPER = 2
    B_LOWER = 3
    W_UPPER = 4
    W_LOWER = 5

    @property
    def kind(self) -> Kind:
        """What it does."""
        return (Kind.F, Kind.F, Kind.B, Kind.B, Kind.W, Kind.W)[self]

    @property
    def is_upper(self) -> bool:
        """Whether it belongs to the device's upper stage."""
        return self in (Slot.F_UPPER, Slot.B_UPPER, Slot.W_UPPER)


SLOTS = tuple(Slot)
FIRST_W = Slot.W_UPPER


@dataclass(frozen=True, slots=True)
class BuildingBlock:
    """Units between the starts of operations that follow each other; all at least 1, so that a block is in order.

    Attributes
    ----------
    away
        From a device to the next, on the way to the last device (F of lower stages, B of upper ones).
    home
        From a device to the one before, on the way back (F of upper stages, B of lower ones).
    forward_turn
        Between the two F's of the last device.
    loss
        From the last F to the first B, both on device 0.
    backward_turn
        Between the two B's of the last device.

    Notes
    -----
    An activation of device i's lower stage is held for about `(2 p - i) * (away + home)` units, one of its upper stage
    for `i * (away + home)`: together as long on every device. With one microbatch every six units that makes
    (away + home) / 6 of what 1F1B holds on device 0.
    """

    away: int
    home: int
    forward_turn: int
    loss: int
    backward_turn: int

    def starts(self, p: int) -> list[list[int]]:
        """Start of each slot on each device; W's in what the rest leave free, as early as that allows, upper first."""
        rows = []
        turned = (p - 1) * self.away + self.forward_turn
        lost = turned + (p - 1) * self.home + self.loss
        back = lost + (p - 1) * self.away + self.backward_turn
        for i in range(p):
            row = [
                self.away * i,
                turned + self.home * (p - 1 - i),
                lost + self.away * i,
                back + self.home * (p - 1 - i),
            ]
            for backward in (Slot.B_UPPER, Slot.B_LOWER):
                taken, soonest = {start % PERIOD for start in row}, row[backward] + 1
                row.append(next(t for t in range(soonest, soonest + PERIOD) if t % PERIOD not in taken))
            rows.append(row)
        return rows


def repeated(starts: list[int], microbatches: int) -> list[tuple[int, int]]:
    """Order the slots of all microbatches of a device, each block a period after the one before."""
    timed = [(start + PERIOD * j, slot, j) for slot, start in enumerate(starts) for j in range(microbatches)]
    return [(slot, j) for _, slot, j in sorted(timed)]
