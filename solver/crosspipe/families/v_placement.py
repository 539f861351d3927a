"""A V placement as the schedules built for it see it: two stages per device, there and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import DoesNotFitError
from crosspipe.families.building_block import SLOTS, Slot
from crosspipe.families.steps import DeviceOrders, Step, require_split
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem

Following = tuple[int, Slot, int]
"""Device and slot that come next along a microbatch's way, and how long the message to them takes."""


@dataclass(frozen=True, slots=True)
class VPlacement:
    """Costs of a pipeline whose device i of p holds stages i and 2p - 1 - i.

    Attributes
    ----------
    devices, microbatches
        Counts.
    durations
        `[device][slot][microbatch]`; 0 where a stage has no such operation.
    following
        `[device][slot]` for F's and B's; None at the end of the way.
    takes, net
        `[device][slot]`: bytes taken at the start, and more held after the end than before the start; of the largest
        microbatch.
    room
        Bytes per device for what is held of microbatches; 0 where no limit is set.
    """

    devices: int
    microbatches: int
    durations: list[list[list[int]]]
    following: list[list[Following | None]]
    takes: list[list[int]]
    net: list[list[int]]
    room: list[int]

    @classmethod
    def of(cls, problem: Problem) -> VPlacement:
        """Read a problem; messages as if no other were on their lane.

        Raises
        ------
        DoesNotFitError
            If the placement is no V with two stages per device, or a backward is combined.
        """
        p = problem.devices_per_replica
        devices_of_v = [*range(p), *reversed(range(p))]
        if len(problem.stages) != 2 * p or [info.device for info in problem.stages] != devices_of_v:
            raise DoesNotFitError(
                f"needs a wave placement with two stages per device, this is {problem.traversal} "
                f"({len(problem.stages)} stages on {p} devices)"
            )
        require_split(problem)
        takes, gives = _amounts(problem)
        duration = np.append(problem.operations.duration_ns, 0)
        numbers = [[problem.numbers[slot.kind, 0, _stage(p, d, slot)] for slot in SLOTS] for d in range(p)]
        largest = [[_largest(takes, gives, row) for row in rows] for rows in numbers]
        return cls(
            devices=p,
            microbatches=problem.microbatches,
            durations=[[duration[row].tolist() for row in rows] for rows in numbers],
            following=_following(problem, p),
            takes=[[taken for taken, _ in row] for row in largest],
            net=[[taken - given for taken, given in row] for row in largest],
            room=_room(problem, p),
        )

    def in_units(self) -> VPlacement:
        """Return the same with operations of one unit, messages of no time, and no limits of memory.

        An activation is two units of memory, of which B gives back one and W the other.
        """
        units = [[1] * self.microbatches for _ in SLOTS]
        return replace(
            self,
            durations=[units] * self.devices,
            following=[[None if then is None else (then[0], then[1], 0) for then in row] for row in self.following],
            takes=[[2, 2, 0, 0, 0, 0]] * self.devices,
            net=[[2, 2, -1, -1, -1, -1]] * self.devices,
            room=[0] * self.devices,
        )

    def steps(self, orders: Sequence[Sequence[tuple[int, int]]]) -> DeviceOrders:
        """Write orders in slots as orders of operations."""
        stages_of_slots = [[_stage(self.devices, device, slot) for slot in SLOTS] for device in range(self.devices)]
        return [
            [Step(SLOTS[slot].kind, stages[slot], microbatch) for slot, microbatch in order]
            for order, stages in zip(orders, stages_of_slots, strict=True)
        ]


def _stage(p: int, device: int, slot: Slot) -> int:
    return 2 * p - 1 - device if slot.is_upper else device


def _following(problem: Problem, p: int) -> list[list[Following | None]]:
    time = {(hop.boundary, hop.kind): 0 if hop.local else hop.transfer_ns + hop.latency_ns for hop in problem.hops}
    ahead = [(d, Slot.F_LOWER) for d in range(p)] + [(d, Slot.F_UPPER) for d in reversed(range(p))]
    back = [(d, Slot.B_UPPER) for d in range(p)] + [(d, Slot.B_LOWER) for d in reversed(range(p))]
    lags = [time.get((stage, Kind.ACTIVATION), 0) for stage in range(2 * p - 1)]
    lags += [0, *(time.get((stage, Kind.GRADIENT), 0) for stage in reversed(range(2 * p - 1)))]
    table: list[list[Following | None]] = [[None] * 4 for _ in range(p)]
    for ((device, slot), (to, next_slot)), lag in zip(pairwise(ahead + back), lags, strict=True):
        table[device][slot] = (to, next_slot, lag)
    return table


def _amounts(problem: Problem) -> tuple[IntArray, IntArray]:
    """Bytes that each operation takes at its start and gives back at its end; the last entry is for no operation."""
    held = problem.holdings
    in_bytes = np.array([pool.unit == "bytes" for pool in problem.pools], dtype=bool)[held.pool]
    takes, gives = (np.zeros(len(problem.operations) + 1, dtype=np.int64) for _ in range(2))
    np.add.at(takes, held.taken_by[in_bytes], held.amount[in_bytes])
    np.add.at(gives, held.given_by[in_bytes], held.amount[in_bytes])
    return takes, gives


def _largest(takes: IntArray, gives: IntArray, row: IntArray) -> tuple[int, int]:
    """Amounts of the microbatch that is given back most of."""
    at = int(row[int(np.argmax(takes[row] + gives[row]))])
    return int(takes[at]), int(gives[at])


def _room(problem: Problem, p: int) -> list[int]:
    room = [0] * p
    for pool in problem.pools:
        if pool.unit == "bytes" and pool.device < p and pool.room is not None:
            room[pool.device] = pool.room
    return room
