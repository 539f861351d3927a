"""What messages pass over: lanes with their windows, the links of a way one after the other, hops between stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.problem.operations import Kind


@dataclass(frozen=True, slots=True)
class Window:
    """Half-open interval `[start_ns, end_ns)` in which a lane is closed (`rate_bps` 0) or slower.

    `end_ns` None = for ever. With `period_ns` the interval repeats at every multiple of the period from 0 on, and
    `0 <= start_ns < end_ns <= period_ns`.
    """

    start_ns: int
    end_ns: int | None
    rate_bps: int
    period_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """One direction of a channel (or both, half duplex): serves one message at a time.

    Attributes
    ----------
    name
        `<channel>/out`, `<channel>/back`, or `<channel>` where both directions share it.
    channel
        The link's name or group.
    replica
        The replica it belongs to, None where all share it.
    rate_bps
        Full rate in bits per second, 1 where none was given (then no window is merely slower).
    windows
        May overlap; the lowest rate holds. No transfer may be in progress while the rate is 0; elsewhere a transfer of
        duration d (at full rate) started at t ends at the first integer e with
        `integral of rate over [t, e) >= d * rate_bps`.
    """

    name: str
    channel: str
    replica: int | None
    rate_bps: int = 1
    windows: tuple[Window, ...] = ()


@dataclass(frozen=True, slots=True)
class WorstPhase:
    """When the longest transfer of a lane with clock-anchored windows takes longest.

    Attributes
    ----------
    lane
        Name of the lane.
    period_ns
        Of its windows.
    phase_ns
        Moment of the period at which the transfer is asked for.
    transfer_ns, reserved_ns
        Its time on the lane at the full rate, and the time that is reserved for it: that of this phase.
    """

    lane: str
    period_ns: int
    phase_ns: int
    transfer_ns: int
    reserved_ns: int


@dataclass(frozen=True, slots=True)
class Leg:
    """One link of the way that a message takes: it occupies the link's lane, then arrives one latency later.

    Attributes
    ----------
    link
        Name of the channel.
    lanes
        Lane resource number per replica; empty where the message queues nowhere.
    transfer_ns
        Time on the lane for a microbatch of multiplier 1 (the worst over all phases of a clock-anchored window).
    latency_ns
        One-way latency after the transfer; occupies nothing.
    """

    link: str
    lanes: tuple[int, ...]
    transfer_ns: int
    latency_ns: int


@dataclass(frozen=True, slots=True)
class Hop:
    """How a message passes from one stage to its neighbour: one row per boundary and direction.

    Attributes
    ----------
    boundary
        The lower of the two stages.
    kind
        `Kind.ACTIVATION` (boundary to boundary + 1) or `Kind.GRADIENT` (back).
    sender, receiver
        Device indices within a replica (0 .. devices per replica - 1).
    legs
        The links it takes, one after the other (store and forward): each leg starts after the arrival of the one
        before. Empty for a local hand-over or a missing route.
    missing
        True if no route joins the two devices: then no schedule exists.
    """

    boundary: int
    kind: Kind
    sender: int
    receiver: int
    legs: tuple[Leg, ...] = ()
    missing: bool = False

    @property
    def local(self) -> bool:
        """Whether both stages sit on one device."""
        return self.sender == self.receiver

    @property
    def link(self) -> str | None:
        """Names of the channels on the way, None where there is none."""
        return ", ".join(leg.link for leg in self.legs) or None

    @property
    def lanes(self) -> tuple[int, ...]:
        """Lanes of all legs and replicas."""
        return tuple(lane for leg in self.legs for lane in leg.lanes)

    @property
    def transfer_ns(self) -> int:
        """Time on the lanes of all legs together, for a microbatch of multiplier 1."""
        return sum(leg.transfer_ns for leg in self.legs)

    @property
    def latency_ns(self) -> int:
        """Latency of all legs together."""
        return sum(leg.latency_ns for leg in self.legs)
