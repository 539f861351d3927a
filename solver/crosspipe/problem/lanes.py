"""Lanes as they are asked for: numbers after the devices, one per channel, direction and (unshared) replica."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.problem.clock import worst_phase
from crosspipe.problem.links import Lane, WorstPhase
from crosspipe.problem.rounding import NS_PER_MS, within

if TYPE_CHECKING:
    from crosspipe.problem.channels import Channel


class LaneTable:
    """Hands out lane numbers; only lanes that carry something come to be.

    `robust` turns true once a duration was lengthened to hold for every phase of a clock-anchored window.
    """

    def __init__(self, first_number: int, replicas: int) -> None:
        self._first = first_number
        self._replicas = replicas
        self._numbers: dict[tuple[str, str, int | None], int] = {}
        self._channels: list[Channel] = []
        self.robust = False
        self._worst: dict[str, WorstPhase] = {}

    def numbers(self, channel: Channel, direction: str) -> tuple[int, ...]:
        """Lane number for each replica."""
        if not channel.per_replica or self._replicas == 1:
            return (self._number(channel, direction, None),) * self._replicas
        return tuple(self._number(channel, direction, replica) for replica in range(self._replicas))

    def reserved_ns(self, channel: Channel, direction: str, duration_ns: int) -> int:
        """Time a transfer must reserve: its duration, or the longest over all phases of clock-anchored windows.

        Where a transfer fits at no phase, the windows stay on the lane as they are: no schedule exists, and what looks
        for the reason finds it there.
        """
        windows = channel.clock_windows.get(direction)
        if not windows or duration_ns == 0:
            return duration_ns
        self.robust = True
        clock = Lane(channel.lane_name(direction), channel.name, None, channel.rate_bps, tuple(windows))
        worst = worst_phase(clock, duration_ns)
        if worst is None:
            channel.windows.setdefault(direction, []).extend(windows)
            return duration_ns
        longest_ns, phase_ns = worst
        known = self._worst.get(clock.name)
        if known is None or known.transfer_ns < duration_ns:
            period_ns = max(window.period_ns or 0 for window in windows)
            self._worst[clock.name] = WorstPhase(clock.name, period_ns, phase_ns, duration_ns, longest_ns)
        return within(longest_ns, NS_PER_MS, "ms")

    def worst_phases(self) -> tuple[WorstPhase, ...]:
        """List the worst phase of each lane asked for that has clock-anchored windows."""
        names = {lane.name for lane in self.lanes()}
        return tuple(worst for name, worst in self._worst.items() if name in names)

    def lanes(self) -> tuple[Lane, ...]:
        """Build the lanes asked for, in the order of their numbers."""
        return tuple(
            Lane(
                channel.lane_name(direction),
                channel.name,
                replica,
                channel.rate_bps,
                tuple(dict.fromkeys(channel.windows.get(direction, ()))),
            )
            for channel, (_, direction, replica) in zip(self._channels, self._numbers, strict=True)
        )

    def _number(self, channel: Channel, direction: str, replica: int | None) -> int:
        key = (channel.name, direction, replica)
        if key not in self._numbers:
            self._numbers[key] = self._first + len(self._numbers)
            self._channels.append(channel)
        return self._numbers[key]
