"""Extra operations that a spec lists: once per step, on a lane, a device or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.problem import Kind
from crosspipe.problem.rounding import to_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.problem.builder import Builder
    from crosspipe.problem.lanes import LaneTable
    from crosspipe.problem.network import Network
    from crosspipe.problem.problem import IntArray
    from crosspipe.problem.ranks import Rank
    from crosspipe.problem.work import StageWork
    from crosspipe.spec.model import ExtraOperation


class Extras:
    """Adds extra operations to a problem whose compute is built; `rows` are their names and numbers."""

    def __init__(
        self,
        builder: Builder,
        lanes: LaneTable,
        network: Network,
        ranks: Sequence[Rank],
        work: Sequence[StageWork],
        blocks: Mapping[tuple[Kind, int], IntArray],
    ) -> None:
        self._builder, self._lanes, self._network, self._ranks = builder, lanes, network, ranks
        self._work, self._blocks = work, blocks
        self.rows: list[tuple[str, int]] = []

    def add(self, extra: ExtraOperation) -> None:
        """Add one as the spec lists it."""
        duration, resource = self._time_and_place(extra)
        number = self.single(extra.name, duration, resource)
        for stage in extra.after:
            self.after_backward(stage, number)
        for stage in extra.before:
            self.before_forward(number, stage)

    def single(self, name: str, duration_ns: int, resource: int | None) -> int:
        """Add an operation of that name, joined to nothing yet; returns its number."""
        number = self._builder.single(duration_ns, resource)
        self.rows.append((name, number))
        return number

    def after_backward(self, stage: int, number: int, lag_ns: int = 0) -> None:
        """Make it wait for all backward work of a stage, in all replicas."""
        self._builder.after(self._blocks[self._work[stage].last, stage], np.array([[number]]), lag_ns)

    def before_forward(self, number: int, stage: int, lag_ns: int = 0) -> None:
        """Make every F of a stage wait for it, in all replicas."""
        self._builder.after(np.array([[number]]), self._blocks[Kind.F, stage], lag_ns)

    def _time_and_place(self, extra: ExtraOperation) -> tuple[int, int | None]:
        duration = 0 if extra.duration_ms is None else to_ns(extra.duration_ms)
        resource: int | None = None
        if extra.device is not None:
            resource = next(index for index, rank in enumerate(self._ranks) if rank.name == extra.device)
        found = None if extra.lane is None else self._network.lane(extra.lane)
        if found is not None:
            channel, direction, timing = found
            if extra.size_mb is not None:
                # Once per step, for all replicas together: the same whether these are merged or modelled apart.
                duration = to_ns(timing.transfer_ms(extra.size_mb, 1))
            duration = self._lanes.reserved_ns(channel, direction, duration)
            if duration > 0:  # what takes no time never queues, as with messages
                resource = self._lanes.numbers(channel, direction)[0]
        return duration, resource
