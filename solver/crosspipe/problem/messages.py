"""Messages between neighbouring stages: what each waits for, what waits for it, and the lane it occupies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.problem import Hop, Kind
from crosspipe.problem.rounding import to_ns
from crosspipe.problem.work import scaled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from crosspipe.problem.builder import Builder
    from crosspipe.problem.channels import Route
    from crosspipe.problem.lanes import LaneTable
    from crosspipe.problem.network import Network
    from crosspipe.problem.problem import IntArray
    from crosspipe.problem.ranks import Rank
    from crosspipe.problem.work import StageWork
    from crosspipe.spec.stages import Stage


class Messages:
    """Adds the messages of one placement to a problem whose compute is built; `hops` has a row for each kind of them.

    `copies` is the number of replicas that one message over a shared lane stands for.
    """

    def __init__(
        self,
        builder: Builder,
        lanes: LaneTable,
        network: Network,
        ranks: Sequence[Rank],
        device_of_stage: Sequence[int],
        stages: Sequence[Stage],
        multipliers: Sequence[Decimal],
        copies: int,
        work: Sequence[StageWork],
        blocks: dict[tuple[Kind, int], IntArray],
    ) -> None:
        self._builder, self._lanes, self._network, self._ranks = builder, lanes, network, ranks
        self._place, self._stages, self._multipliers, self._copies = device_of_stage, stages, multipliers, copies
        self._work, self._blocks = work, blocks
        self.hops: list[Hop] = []

    def add(self) -> None:
        """Add those of every boundary: activations, and gradients where the lower stage has a backward."""
        for boundary in range(len(self._stages) - 1):
            self._message(boundary, Kind.ACTIVATION)
            if self._work[boundary].backward is not None:
                self._message(boundary, Kind.GRADIENT)

    def _message(self, boundary: int, kind: Kind) -> None:
        ends = (boundary, boundary + 1) if kind is Kind.ACTIVATION else (boundary + 1, boundary)
        sender, receiver = (self._place[stage] for stage in ends)
        produced, consumed = (self._side(stage, kind) for stage in ends)
        if sender == receiver:
            self._builder.after(produced, consumed)
            self.hops.append(Hop(boundary, kind, sender, receiver, None, (), 0, 0))
            return
        route = self._network.route(self._ranks[sender], self._ranks[receiver])
        if route is None:
            self._builder.after(produced, consumed)
            self.hops.append(Hop(boundary, kind, sender, receiver, None, (), 0, 0, missing=True))
            return
        self._send(boundary, kind, route, produced, consumed, sender, receiver)

    def _side(self, stage: int, kind: Kind) -> IntArray:
        backward = self._work[stage].backward
        if kind is Kind.ACTIVATION or backward is None:
            return self._blocks[Kind.F, stage]
        return self._blocks[backward, stage]

    def _send(
        self,
        boundary: int,
        kind: Kind,
        route: Route,
        produced: IntArray,
        consumed: IntArray,
        sender: int,
        receiver: int,
    ) -> None:
        stage = self._stages[boundary]
        size = stage.boundary_mb
        if kind is Kind.GRADIENT and stage.gradient_mb is not None:
            size = stage.gradient_mb
        copies = 1 if route.channel.per_replica else self._copies
        whole_ms = route.timing.transfer_ms(size, copies)
        durations = scaled(
            lambda m: self._lanes.reserved_ns(route.channel, route.direction, to_ns(whole_ms * m)), self._multipliers
        )
        latency = to_ns(route.latency_ms)
        lanes: tuple[int, ...] = ()
        if durations.any():
            lanes = self._lanes.numbers(route.channel, route.direction)
            sent = self._builder.block(kind, boundary, durations, np.array(lanes, dtype=np.int64))
            self._blocks[kind, boundary] = sent
            self._builder.after(produced, sent)
            self._builder.after(sent, consumed, latency)
            produced = np.where(sent < 0, produced, -1)
        self._builder.after(produced, consumed, latency)
        one = self._lanes.reserved_ns(route.channel, route.direction, to_ns(whole_ms))
        self.hops.append(Hop(boundary, kind, sender, receiver, route.channel.name, lanes, one, latency))
