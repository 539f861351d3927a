"""Links whose measured times and bandwidth say different things."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.costs.message_notices import paced_ms, short
from crosspipe.spec.notice import Notice
from crosspipe.spec.transfer_table import by_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.costs.degrees import Degrees
    from crosspipe.spec.cluster import Link
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Stage

MOST_APART = 2
"""Measured times hold start-up and protocol; beyond twice what the bandwidth makes, one of the two is wrong."""


def measured_against_bandwidth(expanded: Spec, stages: Sequence[Stage], degrees: Degrees) -> Iterator[Notice]:
    """Tell of links on which a message takes more than twice, or less than half, what the bandwidth says."""
    sizes = {Fraction(size) for stage in stages[:-1] for size in (stage.boundary_mb, stage.gradient_mb) if size}
    for number, link in enumerate(expanded.links):
        field = "transfer_ms" if link.transfer_table is None else "transfer_table"
        if link.bandwidth_gbps is None or getattr(link, field) is None:
            continue
        shared = expanded.parallel.replica_messages == "merged" and not link.per_replica
        copies = degrees.data if shared else 1
        pairs = ((size * copies, _measured_ms(link, size, copies)) for size in sizes)
        rows = [(size, measured, paced_ms(size, link.bandwidth_gbps)) for size, measured in pairs]
        apart = [row for row in rows if not row[2] <= MOST_APART * row[1] <= MOST_APART**2 * row[2]]
        if apart:
            size, measured, paced = max(apart, key=lambda row: row[0])
            message = (
                f"a message of {short(size)} MB takes {short(measured)} ms as measured and {short(paced)} ms at "
                f"{link.bandwidth_gbps} Gb/s; the measured time counts. Check bits against bytes, and what the "
                "measurement shared the link with"
            )
            yield Notice("measured_against_bandwidth", f"/links/{number}/{field}", message)


def _measured_ms(link: Link, size_mb: Fraction, copies: int) -> Fraction:
    if link.transfer_table is not None:
        return by_table(link.transfer_table, size_mb * copies)
    return Fraction(link.transfer_ms or 0) * copies
