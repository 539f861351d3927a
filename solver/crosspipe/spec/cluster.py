"""What a person writes of the cluster: sites with their devices, and the links that join them."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from crosspipe.spec.base import (
    Count,
    Factor,
    Flag,
    Fraction01,
    Gb,
    Gbps,
    Mb,
    Ms,
    Name,
    PositiveMs,
    Price,
    SpecModel,
    Tflops,
)

ONE = Decimal(1)


class Pool(SpecModel):
    """Like devices of a site: `gpus` of a catalogue accelerator, or measured `devices` (pipeline ranks)."""

    gpus: Count | None = None
    """Number of accelerators, over all tensor and data replicas; needs `gpu`."""

    gpu: Name | None = None
    """The accelerator's name in the catalogue, such as `h100-80gb`."""

    devices: Count | None = None
    """Number of pipeline ranks in one replica; a rank is an accelerator or a tensor-parallel group acting as one."""

    time_factor: Factor = ONE
    """Multiplies all compute times of the stages on these devices: 2 = half as fast."""

    tflops: Tflops | None = None
    """Dense peak of one accelerator in TFLOP/s; default that of the catalogue."""

    memory_gb: Gb | None = None
    """Memory in GB (10^9 bytes) of one device, with `gpus` of one accelerator; null = that of `gpu`, else no limit."""

    price_per_hour: Price | None = None
    """Price per hour, in any currency, of one device, with `gpus` of one accelerator."""


class Site(Pool):
    """A datacenter: one pool written in place, or a list of unlike `pools`."""

    pools: Annotated[list[Pool], Field(min_length=1)] | None = None
    """Unlike devices of this site, in pipeline order, in place of `gpus` or `devices`."""

    hop_latency_ms: Ms | None = None
    """One-way latency in ms between two devices of the site; default 0 in the measured form."""

    hop_bandwidth_gbps: Gbps | None = None
    """Bandwidth in Gb/s between any two devices of the site; default none (nothing queues) in the measured form."""

    memory_headroom: Fraction01 | None = None
    """Fraction of the memory kept free; default 0.04 where memory is estimated, 0 where it was measured."""


Interval = Annotated[tuple[Ms, Ms | None], Field(description="[start, end) in ms; an end of null = for ever")]
SlowInterval = Annotated[
    tuple[Ms, Ms | None, Gbps],
    Field(description="[start, end, rate] in ms, ms and Gb/s; an end of null = for ever"),
]
TablePoint = Annotated[tuple[Mb, Ms], Field(description="[size, transfer time] in MB and ms")]


class Link(SpecModel):
    """A link between two places (sites or devices), or, with `group` alone, a channel for extra operations only.

    `between: [a, b]` describes both directions (lane `out` runs from a to b, lane `back` from b to a); `from` and `to`
    describe one direction. Links of one `group` share one channel.
    """

    between: tuple[Name, Name] | None = None
    """The two places joined, both directions; a place is a site or a device (`site/0`)."""

    from_: Name | None = Field(default=None, alias="from")
    """The sending place of a link of one direction; needs `to`."""

    to: Name | None = None
    """The receiving place of a link of one direction; needs `from`."""

    one_way_latency_ms: Ms | None = None
    """Latency of one direction in ms; it occupies nothing."""

    rtt_ms: Ms | None = None
    """Round-trip time in ms; half of it is the one-way latency."""

    bandwidth_gbps: Gbps | None = None
    """Bandwidth of one direction in Gb/s (10^9 bits per second)."""

    regions: tuple[Name, Name] | None = None
    """Two cloud regions such as `aws:oregon`; give the latency and bandwidth known between them where left out."""

    transfer_ms: Ms | None = None
    """Time in ms that each message occupies the lane, in place of a bandwidth; beside one it counts for messages."""

    transfer_table: Annotated[list[TablePoint], Field(min_length=1)] | None = None
    """Measured pairs of size in MB and time in ms, linear in between; beside a bandwidth they count."""

    duplex: Literal["full", "half"] = "full"
    """`full`: a lane for each direction; `half`: one lane for both."""

    group: Name | None = None
    """Links of one group share one channel."""

    lane: Literal["out", "back"] | None = None
    """The lane of the group's channel that a `from`/`to` link uses; default `out`."""

    per_replica: Flag = False
    """Whether each data-parallel replica has such a link of its own; otherwise all share it."""

    closed_ms: Annotated[list[Interval], Field(min_length=1)] | None = None
    """Intervals in ms in which no transfer may be in progress."""

    open_ms: Annotated[list[Interval], Field(min_length=1)] | None = None
    """The only intervals in ms in which transfers may be in progress."""

    slow_ms: Annotated[list[SlowInterval], Field(min_length=1)] | None = None
    """Intervals in ms with a lower rate in Gb/s."""

    period_ms: PositiveMs | None = None
    """The windows repeat with this period in ms; default once."""

    anchor: Literal["iteration", "clock"] = "iteration"
    """What the windows count from: the start of the step, or a clock whose phase is unknown to the schedule."""
