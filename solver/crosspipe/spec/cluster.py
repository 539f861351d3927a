"""What a person writes of the cluster: sites with their devices, and the links that join them."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from crosspipe.spec.base import Count, Factor, Fraction01, Gb, Gbps, Mb, Ms, Name, Price, SpecModel

ONE = Decimal(1)


class Pool(SpecModel):
    """Like devices inside a site: `gpus` of a catalogue accelerator, or `devices` (pipeline ranks) with measured numbers."""

    gpus: Count | None = None
    gpu: Name | None = None
    devices: Count | None = None
    time_factor: Factor = ONE
    memory_gb: Gb | None = None
    price_per_hour: Price | None = None


class Site(Pool):
    """A datacenter: one pool written in place, or a list of unlike `pools`."""

    pools: list[Pool] | None = Field(default=None, min_length=1)
    hop_latency_ms: Ms | None = None
    hop_bandwidth_gbps: Gbps | None = None
    memory_headroom: Fraction01 | None = None


Interval = Annotated[tuple[Ms, Ms | None], Field(description="[start, end) in ms; an end of null = for ever")]
SlowInterval = Annotated[tuple[Ms, Ms | None, Gbps], Field(description="[start, end) in ms, and the rate in Gb/s")]
TablePoint = Annotated[tuple[Mb, Ms], Field(description="size in MB, transfer time in ms")]


class Link(SpecModel):
    """A link between two places (sites or devices), or, with `group` alone, a channel for extra operations only.

    `between: [a, b]` describes both directions (lane `out` runs from a to b, lane `back` from b to a); `from` and `to`
    describe one direction. Links of one `group` share one channel.
    """

    between: tuple[Name, Name] | None = None
    from_: Name | None = Field(default=None, alias="from")
    to: Name | None = None
    one_way_latency_ms: Ms | None = None
    rtt_ms: Ms | None = None
    bandwidth_gbps: Gbps | None = None
    transfer_ms: Ms | None = None
    transfer_table: list[TablePoint] | None = Field(default=None, min_length=1)
    duplex: Literal["full", "half"] = "full"
    group: Name | None = None
    lane: Literal["out", "back"] | None = None
    per_replica: bool = False
    closed_ms: list[Interval] | None = Field(default=None, min_length=1)
    open_ms: list[Interval] | None = Field(default=None, min_length=1)
    slow_ms: list[SlowInterval] | None = Field(default=None, min_length=1)
    period_ms: Ms | None = None
    anchor: Literal["iteration", "clock"] = "iteration"
