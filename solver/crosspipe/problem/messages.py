"""Messages between neighbouring stages: what each waits for, what waits for it, and the lane it occupies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.links import Hop, Leg
from crosspipe.problem.operations import Kind
from crosspipe.problem.rounding import to_ns
from crosspipe.problem.work import scaled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    from crosspipe.problem.builder import Builder
    from crosspipe.problem.channels import Passage
    from crosspipe.problem.lanes import LaneTable
    from crosspipe.problem.network import Network
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.ranks import Rank
    from crosspipe.problem.work import StageWork
    from crosspipe.spec.stages import Stage


class Messages:
    """Adds the messages of one placement to a problem whose compute is built.

    `copies` is the number of replicas that one message over a shared lane stands for. Once added, `hops` has a row for
    each kind of message, and `blocks` one for each leg that occupies a lane.
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
        compute: Mapping[tuple[Kind, int], IntArray],
    ) -> None:
        self._builder, self._lanes, self._network, self._ranks = builder, lanes, network, ranks
        self._place, self._stages, self._multipliers, self._copies = device_of_stage, stages, multipliers, copies
        self._work, self._compute = work, compute
        self.hops: list[Hop] = []
        self.blocks: list[IntArray] = []

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
            self.hops.append(Hop(boundary, kind, sender, receiver))
            return
        route = self._network.route(self._ranks[sender], self._ranks[receiver])
        if route is None:
            self._builder.after(produced, consumed)
            self.hops.append(Hop(boundary, kind, sender, receiver, missing=True))
            return
        legs = self._send(boundary, kind, route, produced, consumed)
        self.hops.append(Hop(boundary, kind, sender, receiver, legs))

    def _side(self, stage: int, kind: Kind) -> IntArray:
        backward = self._work[stage].backward
        if kind is Kind.ACTIVATION or backward is None:
            return self._compute[Kind.F, stage]
        return self._compute[backward, stage]

    def _send(
        self, boundary: int, kind: Kind, route: Sequence[Passage], produced: IntArray, consumed: IntArray
    ) -> tuple[Leg, ...]:
        """Send it over one link after the other; a leg that takes a microbatch no time is no operation of its own."""
        legs = []
        sent, lag_ns = produced, np.zeros_like(produced)
        for number, passage in enumerate(route):
            leg, durations = self._leg(boundary, kind, passage)
            legs.append(leg)
            if leg.lanes:
                block = self._builder.block(kind, boundary, durations, np.array(leg.lanes, dtype=np.int64), number)
                self.blocks.append(block)
                self._builder.after(sent, block, lag_ns)
                queued = block >= 0
                sent, lag_ns = np.where(queued, block, sent), np.where(queued, 0, lag_ns)
            lag_ns = lag_ns + leg.latency_ns
        self._builder.after(sent, consumed, lag_ns)
        return tuple(legs)

    def _leg(self, boundary: int, kind: Kind, passage: Passage) -> tuple[Leg, IntArray]:
        """Describe a leg, and how long each microbatch occupies its lane."""
        stage = self._stages[boundary]
        size = stage.boundary_mb
        if kind is Kind.GRADIENT and stage.gradient_mb is not None:
            size = stage.gradient_mb
        channel, direction = passage.channel, passage.direction
        whole_ms = passage.timing.transfer_ms(size, 1 if channel.per_replica else self._copies)
        durations = scaled(
            lambda m: self._lanes.reserved_ns(channel, direction, to_ns(whole_ms * m)), self._multipliers
        )
        lanes = self._lanes.numbers(channel, direction) if durations.any() else ()
        one = self._lanes.reserved_ns(channel, direction, to_ns(whole_ms))
        return Leg(channel.name, lanes, one, to_ns(passage.latency_ms)), durations
