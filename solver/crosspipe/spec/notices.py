"""Warnings for what is legal but looks like a known mistake in the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crosspipe.spec.notice import Notice
from crosspipe.spec.traps import bandwidth, hops, latency, memory, work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crosspipe.spec.model import Spec

TRAPS: Final[tuple[Callable[[Spec], Iterator[Notice]], ...]] = (
    latency.round_trip_as_one_way,
    latency.unreachable,
    latency.latency_outlier,
    latency.no_latency,
    bandwidth.implausible_bandwidth,
    bandwidth.bandwidth_outlier,
    bandwidth.unlike_directions,
    hops.hop_above_ten_forwards,
    hops.boundary_per_gpu,
    work.equal_times,
    memory.whole_card_in_gib,
    memory.memory_in_megabytes,
)


def spec_notices(spec: Spec) -> tuple[Notice, ...]:
    """List the traps that a valid spec seems to have stepped into, in a fixed order.

    What shows only beside the catalogue, or once a model is cut into stages, is told with the expansion of a spec.
    """
    return tuple(notice for trap in TRAPS for notice in trap(spec))


def told_once(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Leave out what has been told at the same place, or at a place within it, under the same code."""
    kept: list[Notice] = []
    for notice in notices:
        places = [other.pointer for other in kept if other.code == notice.code]
        if not any(place == notice.pointer or place.startswith(f"{notice.pointer}/") for place in places):
            kept.append(notice)
    return tuple(kept)


__all__ = ["TRAPS", "Notice", "spec_notices", "told_once"]
