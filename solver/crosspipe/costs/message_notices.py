"""What a message takes beside the work of a stage: where a wrong unit of size, bandwidth or latency shows."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.spec.faults import pointer as pointer_to
from crosspipe.spec.notice import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    from crosspipe.costs.degrees import Degrees
    from crosspipe.spec.cluster import Link
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Stage

LARGEST_HOP = 10
"""A hop beyond ten forwards leaves any pipeline idle; it is more often a wrong unit than a plan."""

SMALLEST_HIDDEN = 2048
"""Models large enough for tensor parallelism have a hidden size of at least this."""

BITS_PER_BYTE = 8

WHOLE = 1000
"""From here on a number needs no decimals."""


def boundary_per_gpu(expanded: Spec, stages: Sequence[Stage], degrees: Degrees) -> Iterator[Notice]:
    """Tell of messages that fit one accelerator's shard rather than the whole tensor group.

    A message is 2 bytes x microbatch x sequence x hidden size; measured on one accelerator of a group with sequence
    parallelism it is the tensor degree smaller.
    """
    training = expanded.training
    if degrees.tensor == 1 or training.microbatch_size is None or training.sequence_length is None:
        return
    size_mb = max(stage.boundary_mb for stage in stages)
    hidden = Fraction(size_mb) * 10**6 / (2 * training.microbatch_size * training.sequence_length)
    if 0 < hidden < SMALLEST_HIDDEN <= hidden * degrees.tensor:
        message = (
            f"{size_mb} MB at 2 bytes per value means a hidden size of {round(hidden)}; with tensor = {degrees.tensor} "
            f"it may be one GPU's shard of {round(hidden * degrees.tensor)}: give the message of the whole group"
        )
        yield Notice("boundary_per_gpu", "/model", message)


def slow_hops(expanded: Spec, stages: Sequence[Stage], degrees: Degrees) -> Iterator[Notice]:
    """Tell of links and sites on which even the smallest message takes more than ten times the longest F."""
    forward = max(Fraction(stage.forward_ms) for stage in stages)
    size_mb = min((Fraction(stage.boundary_mb) for stage in stages[:-1] if stage.boundary_mb), default=Fraction(0))
    # Where every site runs whole pipelines, messages stay inside.
    for number, link in enumerate(expanded.links if degrees.sites == 1 else ()):
        ends = link.between or (link.from_, link.to)
        if None in ends:
            continue
        shared = expanded.parallel.replica_messages == "merged" and not link.per_replica
        latency = Fraction(link.one_way_latency_ms or 0) if link.rtt_ms is None else Fraction(link.rtt_ms) / 2
        transfer = _transfer_ms(link, size_mb * (degrees.data if shared else 1))
        yield from _slow(f"/links/{number}", f"between {ends[0]} and {ends[1]}", transfer, latency, forward)
    for name, site in expanded.sites.items():
        transfer = paced_ms(size_mb, site.hop_bandwidth_gbps)
        latency = Fraction(site.hop_latency_ms or 0)
        yield from _slow(pointer_to(("sites", name)), f"inside {name}", transfer, latency, forward)


def _slow(at: str, where: str, transfer: Fraction, latency: Fraction, forward: Fraction) -> Iterator[Notice]:
    hop = transfer + latency
    if hop > LARGEST_HOP * forward:
        message = (
            f"a message {where} takes {short(transfer)} ms on the link and {short(latency)} ms of latency, "
            f"{short(hop / forward)} times the longest F ({short(forward)} ms); check bits against bytes, and one way "
            "against round trip"
        )
        yield Notice("hop_above_ten_forwards", at, message)


def short(value: Fraction) -> str:
    """Write a number for people: four digits, all of them before the point."""
    return f"{float(value):,.0f}" if value >= WHOLE else f"{float(value):.4g}"


def _transfer_ms(link: Link, size_mb: Fraction) -> Fraction:
    """Time on the lane; of a measured table, that of the largest size not above the message's."""
    if link.transfer_ms is not None:
        return Fraction(link.transfer_ms)
    if link.transfer_table is not None:
        return max((Fraction(time) for size, time in link.transfer_table if size <= size_mb), default=Fraction(0))
    return paced_ms(size_mb, link.bandwidth_gbps)


def paced_ms(size_mb: Fraction, gbps: Decimal | None) -> Fraction:
    """Time to push a size through a bandwidth in ms, 0 without one."""
    return Fraction(0) if gbps is None else size_mb * BITS_PER_BYTE / Fraction(gbps)
