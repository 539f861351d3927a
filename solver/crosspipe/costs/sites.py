"""Sites in GPUs as sites in devices, with memory, time factors and hops filled in."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.costs.assumption import Assumption
from crosspipe.costs.checked import checked
from crosspipe.costs.quantize import FACTOR_DIGITS, decimal_of
from crosspipe.spec.cluster import Site
from crosspipe.spec.faults import pointer as pointer_to

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.costs.degrees import Degrees
    from crosspipe.costs.peaks import Peak
    from crosspipe.costs.pools import PlacedPool

ESTIMATED_HEADROOM = Decimal("0.04")
"""Fraction of memory kept free where stage memory is estimated (the CrossPipe paper plans with 96 %, too)."""

ESTIMATED_HOP_LATENCY_MS = Decimal("0.01")
"""One hop between neighbouring nodes of a site (CrossPipe paper, link classes: at most 10 microseconds on a campus)."""

ESTIMATED_HOP_GBPS_PER_GPU = Decimal(400)
"""One network card of 400 Gb/s per GPU, as in common 8-GPU nodes; a tensor group sends its shards side by side."""


@dataclass(frozen=True, slots=True)
class SiteExpansion:
    """Sites in devices per replica, and what was assumed on the way."""

    sites: dict[str, Site]
    assumptions: tuple[Assumption, ...]


def expand_sites(
    sites: Mapping[str, Site], pools: tuple[PlacedPool, ...], degrees: Degrees, *, estimated: bool
) -> SiteExpansion:
    """Write every site in devices per replica.

    Estimated stage times are for the peak of the first pool; the `time_factor` of a pool with another peak is the ratio
    of the two, times its own factor if it has one. Measured times are taken as they are.

    Raises
    ------
    TooLargeError
        If a time factor or price leaves the range of its field.
    """
    assumptions: list[Assumption] = []
    reference = pools[0].peak if estimated else None
    expanded: dict[str, Site] = {}
    for name, site in sites.items():
        mine = [_expand_pool(placed, degrees, reference, assumptions) for placed in pools if placed.site == name]
        pointer = pointer_to(("sites", name))
        rest = {
            "hop_latency_ms": site.hop_latency_ms,
            "hop_bandwidth_gbps": site.hop_bandwidth_gbps,
            "memory_headroom": site.memory_headroom,
        }
        for key, (value, text, why) in _defaults(degrees, estimated=estimated).items():
            if rest[key] is None:
                rest[key] = value
                assumptions.append(Assumption(f"{pointer}/{key}", text, why, f"sites.{name}.{key}"))
        if site.pools is None:
            expanded[name] = checked(Site, {**mine[0], **rest}, pointer)
        else:
            expanded[name] = checked(Site, {"pools": mine, **rest}, pointer)
    return SiteExpansion(expanded, tuple(assumptions))


def _expand_pool(
    placed: PlacedPool, degrees: Degrees, reference: Peak | None, assumptions: list[Assumption]
) -> dict[str, object]:
    pool, card, pointer = placed.pool, placed.accelerator, placed.pointer
    place = pointer.removeprefix("/").replace("/", ".")
    devices, memory, factor, price = pool.devices, pool.memory_gb, pool.time_factor, pool.price_per_hour
    if pool.gpus is not None:
        devices = pool.gpus // (degrees.gpus * degrees.copies)
        spread = f" / {degrees.sites} sites" if degrees.sites > 1 else ""
        why = f"{pool.gpus} GPUs / ({degrees.device} x data {degrees.data}{spread}): pipeline ranks of one replica"
        assumptions.append(Assumption(f"{pointer}/devices", str(devices), why, f"{place}.gpus or parallel"))
        if price is not None:
            price *= degrees.gpus
            why = f"{pool.price_per_hour} per GPU x {degrees.device}"
            assumptions.append(Assumption(f"{pointer}/price_per_hour", str(price), why, f"{place}.price_per_hour"))
    if card is not None and memory is None:
        memory = card.memory_gb
        why = f"memory of one {card.name}; all GPUs of a tensor group hold alike ({card.source})"
        assumptions.append(Assumption(f"{pointer}/memory_gb", f"{memory} GB", why, f"{place}.memory_gb"))
    peak = placed.peak
    if reference is not None and peak is not None and peak.tflops != reference.tflops:
        factor = decimal_of(Fraction(reference.tflops) / Fraction(peak.tflops) * Fraction(factor), FACTOR_DIGITS)
        why = (
            f"stage times are for {reference.tflops} TFLOP/s ({reference.source}), these devices have {peak.tflops} "
            f"({peak.source})"
        )
        assumptions.append(Assumption(f"{pointer}/time_factor", str(factor), why, f"{place}.time_factor multiplies it"))
    return {
        "devices": devices,
        "gpu": None if card is None else card.name,
        "memory_gb": memory,
        "time_factor": factor,
        "price_per_hour": price,
    }


def _defaults(degrees: Degrees, *, estimated: bool) -> dict[str, tuple[Decimal | None, str, str]]:
    """Default, its text and its reason for each field of a site."""
    if not estimated:
        measured = "measured numbers are taken as they are"
        return {
            "hop_latency_ms": (Decimal(0), "0 ms", measured),
            "hop_bandwidth_gbps": (None, "none: messages inside the site queue nowhere", measured),
            "memory_headroom": (Decimal(0), "0", measured),
        }
    rate = ESTIMATED_HOP_GBPS_PER_GPU * degrees.gpus
    cards = f"{ESTIMATED_HOP_GBPS_PER_GPU} Gb/s per GPU x {degrees.device}, whose shards travel side by side"
    return {
        "hop_latency_ms": (
            ESTIMATED_HOP_LATENCY_MS,
            f"{ESTIMATED_HOP_LATENCY_MS} ms",
            "one way between two nodes of a site",
        ),
        "hop_bandwidth_gbps": (rate, f"{rate} Gb/s", cards),
        "memory_headroom": (ESTIMATED_HEADROOM, str(ESTIMATED_HEADROOM), "kept free, as the stage memory is estimated"),
    }
