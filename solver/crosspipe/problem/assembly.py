"""Puts the parts of one problem together: compute, messages, memory, extra operations."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.builder import Builder
from crosspipe.problem.extras import Extras
from crosspipe.problem.gradients import StepGradients
from crosspipe.problem.lanes import LaneTable
from crosspipe.problem.messages import Messages
from crosspipe.problem.operations import NO_DEADLINE, Kind, RecomputeChoice
from crosspipe.problem.problem import Pool
from crosspipe.problem.ranks import copies_of
from crosspipe.problem.rounding import to_bytes, to_ns
from crosspipe.problem.work import StageWork, stage_work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from crosspipe.problem.links import Hop
    from crosspipe.problem.network import Network
    from crosspipe.problem.operations import IntArray, Operations
    from crosspipe.problem.ranks import Rank
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import RecomputeOption, Stage


class Assembly:
    """One placement being compiled; `build` fills the builder, pools, hops, choices and extras."""

    def __init__(
        self,
        spec: Spec,
        stages: Sequence[Stage],
        multipliers: Sequence[Decimal],
        device_of_stage: Sequence[int],
        ranks: Sequence[Rank],
        replicas: int,
        network: Network,
    ) -> None:
        self._spec, self._stages, self._multipliers = spec, stages, multipliers
        self._place, self._ranks, self._replicas, self._network = device_of_stage, ranks, replicas, network
        self.merged = copies_of(spec) if replicas == 1 else 1
        self.builder = Builder(replicas, len(multipliers))
        self.lanes = LaneTable(replicas * len(ranks), replicas)
        self.blocks: dict[tuple[Kind, int], IntArray] = {}
        self.pools: list[Pool] = []
        self.hops: list[Hop] = []
        self.sent: list[IntArray] = []
        self.choices: list[RecomputeChoice] = []
        self.extras: list[tuple[str, int]] = []
        self.between_sites: tuple[int, ...] = ()
        self._work: list[StageWork] = []

    def stages_on(self, device: int) -> tuple[int, ...]:
        """Stages that sit on a device (index within a replica)."""
        return tuple(stage for stage, place in enumerate(self._place) if place == device)

    def build(self) -> None:
        """Compile all parts, in an order that depends on the spec alone."""
        self._memory_pools()
        for stage in range(len(self._stages)):
            self._compute(stage)
        messages = Messages(
            self.builder,
            self.lanes,
            self._network,
            self._ranks,
            self._place,
            self._stages,
            self._multipliers,
            self.merged,
            self._work,
            self.blocks,
        )
        messages.add()
        self.hops, self.sent = messages.hops, messages.blocks
        extras = Extras(self.builder, self.lanes, self._network, self._ranks, self._work, self.blocks)
        for extra in self._spec.extra_operations:
            extras.add(extra)
        if self._spec.gradients is not None:
            gradients = StepGradients(
                self._spec,
                self._spec.gradients,
                self._stages,
                self._place,
                self._ranks,
                self._work,
                self._network,
                extras,
                self.pools,
                copies_of(self._spec),
            )
            gradients.add()
            self.between_sites = gradients.between_sites
        self.extras = extras.rows

    def due_ns(self, operations: Operations) -> IntArray | None:
        """Latest ends, None if the spec sets no deadline."""
        limits = self._spec.limits
        if limits.deadline_ms is None and not limits.stage_deadlines_ms:
            return None
        latest = NO_DEADLINE if limits.deadline_ms is None else to_ns(limits.deadline_ms)
        due = np.full(len(operations), latest, dtype=np.int64)
        for stage, deadline_ms in limits.stage_deadlines_ms.items():
            of_stage = (operations.stage == stage) & (operations.kind <= Kind.BW)
            due[of_stage] = np.minimum(due[of_stage], to_ns(deadline_ms))
        return due

    def _resources(self, stage: int) -> IntArray:
        return self._place[stage] + len(self._ranks) * np.arange(self._replicas, dtype=np.int64)

    def _memory_pools(self) -> None:
        for replica in range(self._replicas):
            for index, rank in enumerate(self._ranks):
                static = sum(to_bytes(self._stages[stage].static_mb) for stage in self.stages_on(index))
                device = replica * len(self._ranks) + index
                self.pools.append(Pool("memory", "bytes", device, rank.capacity_bytes, static))

    def _compute(self, stage: int) -> None:
        given = self._stages[stage]
        work = self._stage_work(stage, None)
        self._work.append(work)
        resources = self._resources(stage)
        for kind, durations in work.durations_ns.items():
            self.blocks[kind, stage] = self.builder.block(kind, stage, durations, resources)
        chain = [self.blocks[kind, stage] for kind in (Kind.F, Kind.B, Kind.BW, Kind.W) if kind in work.durations_ns]
        for before, after in pairwise(chain):
            self.builder.after(before, after)
        rows = self._hold(stage, work, resources)
        self._in_flight(stage, work, resources)
        if given.recompute_option is not None:
            self._choice(stage, rows, given.recompute_option)

    def _stage_work(self, stage: int, option: RecomputeOption | None) -> StageWork:
        factor = self._ranks[self._place[stage]].time_factor
        split = self._spec.training.split_backward
        return stage_work(self._stages[stage], factor, self._multipliers, split, option)

    def _hold(self, stage: int, work: StageWork, resources: IntArray) -> list[IntArray]:
        """Hold the stage's memory, in the order of `_amounts`; nothing is left out that an option may change."""
        first, last = self.blocks[Kind.F, stage], self.blocks[work.last, stage]
        backward = last if work.backward is None else self.blocks[work.backward, stage]
        spans = [(first, backward), (first, last), (backward, last)]
        fixed = self._stages[stage].recompute_option is None
        return [
            self.builder.hold(resources, taken, given, amounts)
            for (taken, given), amounts in zip(spans, _amounts(work), strict=True)
            if amounts.any() or not fixed
        ]

    def _choice(self, stage: int, rows: list[IntArray], option: RecomputeOption) -> None:
        work = self._stage_work(stage, option)
        if work.backward is None:
            return
        operations = self.blocks[work.backward, stage]
        self.choices.append(
            RecomputeChoice(
                stage,
                operations.ravel(),
                np.tile(work.durations_ns[work.backward], self._replicas),
                np.concatenate(rows),
                np.concatenate([np.tile(amounts, self._replicas) for amounts in _amounts(work)]),
            )
        )

    def _in_flight(self, stage: int, work: StageWork, resources: IntArray) -> None:
        caps = self._spec.limits.in_flight
        cap = caps[stage] if isinstance(caps, list) else caps
        if cap is None:
            return
        first = len(self.pools)
        self.pools += [Pool(f"in flight on stage {stage}", "microbatches", int(d), cap) for d in resources]
        one = np.ones(len(self._multipliers), dtype=np.int64)
        pools = first + np.arange(self._replicas, dtype=np.int64)
        self.builder.hold(pools, self.blocks[Kind.F, stage], self.blocks[work.last, stage], one)


def _amounts(work: StageWork) -> tuple[IntArray, IntArray, IntArray]:
    return work.until_backward_bytes, work.retained_bytes, work.extra_bytes
