"""Input traps that show only beside the catalogue or once times and sizes are known."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.costs.pointer import field
from crosspipe.spec.notice import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    from crosspipe.costs.degrees import Degrees
    from crosspipe.costs.pools import PlacedPool
    from crosspipe.spec.cluster import Link
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Stage

GIB_PER_GB = Fraction(1000**3, 1024**3)
"""Size of a GB in GiB: numbers that differ by this ratio were read in the other unit."""

UNIT_TOLERANCE = Fraction(1, 200)
"""How close to that ratio two numbers must be to look like the same memory in two units."""

SPARSE_RATIO = (Fraction(19, 10), Fraction(21, 10))
"""A peak of about twice the catalogue's is the sparse figure of the data sheet."""

SLOW_HOP_FORWARDS = 10
"""A message that takes more forward times than this was probably given in a wrong unit."""

SMALLEST_HIDDEN = 2048
"""Smallest hidden size of a model that is split over a tensor group."""


def cost_notices(
    expanded: Spec, stages: Sequence[Stage], degrees: Degrees, pools: Sequence[PlacedPool]
) -> tuple[Notice, ...]:
    """List the traps of an expanded spec with these stages and degrees, and of its pools as they were written."""
    return (
        *_pool_notices(pools),
        *_boundary_notices(expanded, stages, degrees),
        *_hop_notices(expanded, stages, degrees),
    )


def _pool_notices(pools: Sequence[PlacedPool]) -> Iterator[Notice]:
    for placed in pools:
        card, pool = placed.accelerator, placed.pool
        if card is None:
            continue
        if pool.memory_gb:
            ratio = Fraction(pool.memory_gb) / Fraction(card.memory_gb)
            if any(abs(ratio / other - 1) < UNIT_TOLERANCE for other in (GIB_PER_GB, 1 / GIB_PER_GB)):
                message = (
                    f"{pool.memory_gb} GB is {float(ratio):.3f} times the {card.memory_gb} GB of {card.name}, the "
                    "ratio of GiB and GB; memory_gb counts 10^9 bytes"
                )
                yield Notice("gb_or_gib", f"{placed.pointer}/memory_gb", message)
        ratio = Fraction(pool.tflops or 0) / Fraction(card.dense_bf16_tflops)
        if SPARSE_RATIO[0] <= ratio <= SPARSE_RATIO[1]:
            message = (
                f"{pool.tflops} TFLOP/s is twice the dense bf16 peak of {card.name}, {card.dense_bf16_tflops}; data "
                "sheets put the sparse peak first"
            )
            yield Notice("sparse_peak", f"{placed.pointer}/tflops", message)


def _boundary_notices(expanded: Spec, stages: Sequence[Stage], degrees: Degrees) -> Iterator[Notice]:
    training, tensor = expanded.training, degrees.tensor
    if training.sequence_length is None or training.microbatch is None or tensor == 1:
        return
    message_mb = max(stage.boundary_mb for stage in stages)
    hidden = Fraction(message_mb) * 10**6 / (2 * training.microbatch * training.sequence_length)
    if 0 < hidden < SMALLEST_HIDDEN:
        message = (
            f"messages of {message_mb} MB mean a hidden size of about {round(hidden)}, or {round(hidden * tensor)} if "
            f"they are of one GPU of {tensor}; boundary_mb is the message of the whole tensor group"
        )
        yield Notice("boundary_per_gpu", "/model", message)


def _hop_notices(expanded: Spec, stages: Sequence[Stage], degrees: Degrees) -> Iterator[Notice]:
    forward = max(Fraction(stage.forward_ms) for stage in stages)
    size_mb = max(max(stage.boundary_mb, stage.gradient_mb or stage.boundary_mb) for stage in stages)
    together = degrees.data if expanded.parallel.replica_messages == "merged" else 1
    for number, link in enumerate(expanded.links):
        if link.between is None and link.from_ is None:
            continue
        time_ms = _hop_ms(link, Fraction(size_mb) * (1 if link.per_replica else together))
        name = "-".join(link.between) if link.between else f"{link.from_}->{link.to}"
        if time_ms > SLOW_HOP_FORWARDS * forward:
            yield _slow(f"/links/{number}", f"over link {name}", time_ms, forward)
    for site_name, site in expanded.sites.items():
        time_ms = Fraction(site.hop_latency_ms or 0) + _transfer_ms(Fraction(size_mb), site.hop_bandwidth_gbps)
        if time_ms > SLOW_HOP_FORWARDS * forward:
            yield _slow(field("/sites", site_name), f"inside site {site_name}", time_ms, forward)


def _slow(pointer: str, where: str, time_ms: Fraction, forward: Fraction) -> Notice:
    message = (
        f"a message {where} takes {float(time_ms):.4g} ms, {float(time_ms / forward):.3g} times the longest forward "
        f"({float(forward):.4g} ms); check bits against bytes, and one way against round trip"
    )
    return Notice("slow_hop", pointer, message)


def _hop_ms(link: Link, size_mb: Fraction) -> Fraction:
    latency = Fraction(link.one_way_latency_ms or 0) if link.rtt_ms is None else Fraction(link.rtt_ms) / 2
    if link.transfer_ms is not None:
        return latency + Fraction(link.transfer_ms)
    return latency + _transfer_ms(size_mb, link.bandwidth_gbps)


def _transfer_ms(size_mb: Fraction, gbps: Decimal | None) -> Fraction:
    return Fraction(0) if gbps is None else size_mb * 8 / Fraction(gbps)
