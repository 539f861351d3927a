"""`Problem`: a spec compiled to integers, the one thing that bounds, families, search, replay and checker read.

Times are integer nanoseconds, memory integer bytes. A problem is deterministic for a spec. The exact semantics are
those of `docs/reference/semantics.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Holdings, Kind, Operations, Precedences, RecomputeChoice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.problem.links import Hop, Lane, WorstPhase
    from crosspipe.problem.operations import IntArray


class Objective(StrEnum):
    """What is made small: the makespan, or the longest time any device is held (first start to last end of compute)."""

    MAKESPAN = "makespan"
    SPAN = "span"


@dataclass(frozen=True, slots=True)
class Device:
    """One pipeline rank of one replica.

    Attributes
    ----------
    name, site
        As in the spec (`east/0`, `east`).
    replica
        Number of the pipeline copy it belongs to.
    stages
        The stages it holds, ascending.
    """

    name: str
    site: str
    replica: int
    stages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Something a device holds a limited amount of: its memory, or microbatches in flight on a stage.

    Attributes
    ----------
    name
        `memory` or `in flight on stage s`.
    unit
        `bytes` or `microbatches`.
    device
        Number of the device (a resource number).
    capacity
        The limit, None for none.
    base
        Amount held all the time (static memory).
    kept
        Of what extra operations take: the part that is held whenever the capacity binds, so that what F's may take
        together is `room`. Where they take more, it is for a part of the time.
    """

    name: str
    unit: str
    device: int
    capacity: int | None
    base: int = 0
    kept: int = 0

    @property
    def room(self) -> int | None:
        """What is left for the holdings of microbatches, None for no limit."""
        return None if self.capacity is None else self.capacity - self.base - self.kept


@dataclass(frozen=True, slots=True)
class StageInfo:
    """What is told about a stage: its layers (text) and its device index within a replica."""

    layers: str | None
    device: int


@dataclass(frozen=True, eq=False)
class Problem:
    """A compiled spec.

    Attributes
    ----------
    digest
        The spec's digest.
    traversal
        `unidirectional`, `loop`, `wave` or `map`.
    stages
        What is told of each stage; its number is its place.
    multipliers
        Of the microbatches of a replica, one each, as text: what their times and amounts are multiplied with.
    replicas
        Number of modelled copies, each standing for `merged_replicas` real ones.
    devices, lanes
        Resources: number r < len(devices) is a device, r >= len(devices) the lane r - len(devices). The devices of
        replica q are `q * devices_per_replica + index`.
    chains
        Classes of operations (same stage and kind; same hop, direction and leg; within a replica) that keep this order
        of starts. If `chains_required`, every schedule must; otherwise they may be assumed, as microbatches are
        identical.
    due_ns
        Latest end per operation, None for no deadline at all; `NO_DEADLINE` where that operation has none.
    extras
        Name and operation number of each extra operation.
    between_sites
        Those of the extra operations that are the gradients' or parameters' traffic between sites.
    tokens_per_step
        For tokens per second, None where the sequence length is unknown.
    robust
        True if durations hold for every phase of a clock-anchored window.
    worst_phases
        Of each lane with such windows.
    choices, recomputed
        The recompute options, and the stages whose options have been applied.
    """

    digest: str
    traversal: str
    stages: tuple[StageInfo, ...]
    multipliers: tuple[str, ...]
    replicas: int
    merged_replicas: int
    devices: tuple[Device, ...]
    lanes: tuple[Lane, ...]
    operations: Operations
    precedences: Precedences
    pools: tuple[Pool, ...]
    holdings: Holdings
    hops: tuple[Hop, ...]
    chains: tuple[IntArray, ...]
    chains_required: bool
    choices: tuple[RecomputeChoice, ...] = ()
    extras: tuple[tuple[str, int], ...] = ()
    between_sites: tuple[int, ...] = ()
    due_ns: IntArray | None = None
    tokens_per_step: int | None = None
    robust: bool = False
    worst_phases: tuple[WorstPhase, ...] = ()
    recomputed: frozenset[int] = field(default_factory=frozenset)

    @property
    def microbatches(self) -> int:
        """Number of microbatches per replica."""
        return len(self.multipliers)

    @property
    def identical(self) -> bool:
        """Whether all microbatches are alike."""
        return len(set(self.multipliers)) == 1

    @property
    def devices_per_replica(self) -> int:
        """Number of pipeline ranks."""
        return len(self.devices) // self.replicas

    @property
    def resources(self) -> int:
        """Number of devices and lanes."""
        return len(self.devices) + len(self.lanes)

    @property
    def windowed(self) -> bool:
        """Whether some lane is closed or slower at times."""
        return any(lane.windows for lane in self.lanes)

    def resource_name(self, resource: int) -> str:
        """Name a device or lane for people; a replica is named where there are several."""
        if resource < len(self.devices):
            device = self.devices[resource]
            return f"{device.name} (replica {device.replica})" if self.replicas > 1 else device.name
        lane = self.lanes[resource - len(self.devices)]
        shared = self.replicas == 1 or lane.replica is None
        return lane.name if shared else f"{lane.name} (replica {lane.replica})"

    @cached_property
    def numbers(self) -> IntArray:
        """Operation number by [kind, replica, stage, microbatch], -1 where there is none; no extras, no later legs."""
        table: IntArray = self.numbers_by_leg[0]
        return table

    @cached_property
    def numbers_by_leg(self) -> IntArray:
        """Operation number by [leg, kind, replica, stage, microbatch], -1 where there is none; extras left out."""
        ops = self.operations
        legs = max((len(hop.legs) for hop in self.hops), default=1) or 1
        shape = (legs, Kind.EXTRA, self.replicas, len(self.stages), self.microbatches)
        table = np.full(shape, -1, dtype=np.int64)
        rows = np.flatnonzero(ops.kind < Kind.EXTRA)
        table[ops.leg[rows], ops.kind[rows], ops.replica[rows], ops.stage[rows], ops.microbatch[rows]] = rows
        return table

    def number(self, kind: Kind, stage: int, microbatch: int, replica: int = 0) -> int | None:
        """Find an operation; None if the problem has no such one."""
        found = int(self.numbers[kind, replica, stage, microbatch])
        return None if found < 0 else found

    def transfers(self, kind: Kind, boundary: int, microbatch: int, replica: int = 0) -> tuple[int, ...]:
        """Transfers of a message, in the order of its way; legs that queue nowhere are left out."""
        numbers: list[int] = self.numbers_by_leg[:, kind, replica, boundary, microbatch].tolist()
        return tuple(number for number in numbers if number >= 0)

    @cached_property
    def by_resource(self) -> tuple[IntArray, ...]:
        """Operation numbers of each device and lane, ascending."""
        order = np.argsort(self.operations.resource, kind="stable")
        edges = np.searchsorted(self.operations.resource[order], np.arange(self.resources + 1))
        return tuple(order[edges[r] : edges[r + 1]] for r in range(self.resources))

    @cached_property
    def gathered(self) -> tuple[int, ...]:
        """Amount of each pool that extra operations take, all together."""
        held = self.holdings
        extra = self.operations.kind[held.taken_by] == Kind.EXTRA
        amounts = np.zeros(len(self.pools), dtype=np.int64)
        np.add.at(amounts, held.pool[extra], held.amount[extra])
        return tuple(amounts.tolist())

    @cached_property
    def _extra_names(self) -> dict[int, str]:
        return {number: name for name, number in self.extras}

    def label(self, operation: int) -> str:
        """Name an operation for people: `F of stage 2, microbatch 5`."""
        if operation in self._extra_names:
            return f"extra operation {self._extra_names[operation]}"
        ops = self.operations
        kind = Kind(int(ops.kind[operation]))
        what = {Kind.ACTIVATION: "activation", Kind.GRADIENT: "gradient"}.get(kind, kind.name)
        where = f"over boundary {ops.stage[operation]}" if kind.is_transfer else f"of stage {ops.stage[operation]}"
        if ops.leg[operation]:
            where += f", leg {ops.leg[operation]}"
        text = f"{what} {where}, microbatch {ops.microbatch[operation]}"
        return f"{text}, replica {ops.replica[operation]}" if self.replicas > 1 else text

    def recompute(self, stages: frozenset[int]) -> Problem:
        """Return the problem in which exactly `stages` take their recompute option.

        Raises
        ------
        ValueError
            If a stage has no option, or the problem has been resolved before.
        """
        if self.recomputed:
            raise ValueError("recompute options are applied already")
        known = {choice.stage: choice for choice in self.choices}
        if unknown := stages - known.keys():
            raise ValueError(f"stage {min(unknown)} has no recompute option")
        durations, amounts = self.operations.duration_ns.copy(), self.holdings.amount.copy()
        for stage in stages:
            choice = known[stage]
            durations[choice.operations] = choice.durations_ns
            amounts[choice.holdings] = choice.amounts
        return replace(
            self,
            operations=replace(self.operations, duration_ns=durations),
            holdings=replace(self.holdings, amount=amounts),
            recomputed=stages,
        )

    def __iter__(self) -> Iterator[int]:
        """Iterate over operation numbers."""
        return iter(range(len(self.operations)))
