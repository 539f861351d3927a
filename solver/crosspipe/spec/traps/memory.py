"""Memory in the wrong unit."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from crosspipe.spec.cluster import Pool
from crosspipe.spec.faults import pointer
from crosspipe.spec.notice import Notice
from crosspipe.spec.numbers import plain_text
from crosspipe.spec.shape import parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.spec.model import Spec

GIB_IN_GB = Decimal(2**30) / 10**9

CARD_SIZES = (8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 144, 180, 192, 256, 288)
"""Sizes that accelerators are sold with."""

LARGEST_GB = Decimal(4096)
"""More than sixteen of the largest accelerators together."""

SAME = Decimal("0.0001")


def whole_card_in_gib(spec: Spec) -> Iterator[Notice]:
    """Tell of a memory that is a card's size in GiB to the last digit; a named card is compared with the catalogue."""
    for at, given, card in _memories(spec):
        if card is not None:
            continue
        size = next((size for size in CARD_SIZES if abs(given / (size * GIB_IN_GB) - 1) < SAME), None)
        if size is not None:
            yield Notice(
                "memory_is_whole_card",
                at,
                f"{plain_text(given)} GB is {size} GiB, all the memory of such a card; a job gets less, as the runtime "
                "keeps some: give what it can allocate, or a `memory_headroom`",
            )


def memory_in_megabytes(spec: Spec) -> Iterator[Notice]:
    """Tell of more memory than any device has."""
    for at, given, _ in _memories(spec):
        if given > LARGEST_GB:
            yield Notice(
                "memory_implausible",
                at,
                f"{plain_text(given)} GB is more than any device has; as MB it would be {plain_text(given / 1000)} GB",
            )


def _memories(spec: Spec) -> Iterator[tuple[str, Decimal, str | None]]:
    for path, part in parts(spec):
        if isinstance(part, Pool) and part.memory_gb is not None:
            yield pointer((*path, "memory_gb")), part.memory_gb, part.gpu
