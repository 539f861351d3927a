"""Extra operations that a spec lists: once per step, on a lane, a device or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.ends import NOTHING, Ends
from crosspipe.problem.operations import Kind
from crosspipe.problem.rounding import to_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.problem.builder import Builder
    from crosspipe.problem.channels import Channel
    from crosspipe.problem.lanes import LaneTable
    from crosspipe.problem.network import Network
    from crosspipe.problem.operations import IntArray
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
        self.builder, self._lanes, self._network, self._ranks = builder, lanes, network, ranks
        self._work, self._blocks = work, blocks
        self.rows: list[tuple[str, int]] = []

    def add(self, extra: ExtraOperation) -> None:
        """Add one as the spec lists it; a stage listed twice counts once, as searches count what is waited for."""
        duration, resource = self._time_and_place(extra)
        number = self.single(extra.name, duration, resource)
        for stage in dict.fromkeys(extra.after):
            self.after(number, self.last(stage))
        for stage in dict.fromkeys(extra.before):
            self.before_forward(stage, Ends.of(number))

    def single(self, name: str, duration_ns: int = 0, resource: int | None = None, after: Ends = NOTHING) -> int:
        """Add an operation of that name; returns its number."""
        number = self.builder.single(duration_ns, resource)
        self.rows.append((name, number))
        self.after(number, after)
        return number

    def on_lane(self, name: str, channel: Channel, direction: str, duration_ns: int, after: Ends = NOTHING) -> int:
        """Add an operation on a lane; what takes no time never queues, as with messages."""
        duration_ns = self._lanes.reserved_ns(channel, direction, duration_ns)
        resource = self._lanes.numbers(channel, direction)[0] if duration_ns > 0 else None
        return self.single(name, duration_ns, resource, after)

    def last(self, stage: int) -> Ends:
        """All backward work of a stage, in all replicas; of a frozen one its forward work."""
        return Ends(((self._blocks[self._work[stage].last, stage], 0),))

    def after(self, number: int, ends: Ends) -> None:
        """Make an operation wait."""
        ends.hold_back(self.builder, np.array([[number]], dtype=np.int64))

    def before_forward(self, stage: int, ends: Ends) -> None:
        """Make every F of a stage wait, in all replicas."""
        ends.hold_back(self.builder, self._blocks[Kind.F, stage])

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
                duration = to_ns(timing.bulk_ms(extra.size_mb))
            duration = self._lanes.reserved_ns(channel, direction, duration)
            if duration > 0:  # what takes no time never queues
                resource = self._lanes.numbers(channel, direction)[0]
        return duration, resource
