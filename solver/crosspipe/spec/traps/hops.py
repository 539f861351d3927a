"""What a message takes on a link, beside the work of a stage: where a wrong unit of size or bandwidth shows."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from crosspipe.spec.faults import pointer
from crosspipe.spec.notice import Notice
from crosspipe.spec.numbers import plain_text
from crosspipe.spec.places import sites_of_copies
from crosspipe.spec.stages import StagesModel
from crosspipe.spec.traps.latency import one_way_ms, site_links

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.spec.cluster import Link
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Work

LARGEST_HOP = 10
"""A hop beyond ten forwards leaves any pipeline idle; it is more often a wrong unit than a plan."""

SMALLEST_HIDDEN = 2048
"""Models large enough for tensor parallelism have a hidden size of at least this."""

BITS_PER_BYTE = 8


def hop_above_ten_forwards(spec: Spec) -> Iterator[Notice]:
    """Tell of links on which even the smallest message takes more than ten times the longest F."""
    works = stage_works(spec)
    sizes = [work.boundary_mb for work in works if work.boundary_mb > 0]
    if not sizes or sites_of_copies(spec.parallel, spec.sites) > 1:  # whole pipelines in each site: none crosses
        return
    forward, size = max(work.forward_ms for work in works), min(sizes)
    for number, pair, link in site_links(spec):
        copies = _copies(spec, link)
        transfer, latency = _transfer_ms(link, size * copies), one_way_ms(link) or Decimal(0)
        hop = transfer + latency
        if hop <= LARGEST_HOP * forward:
            continue
        shares = f" x {copies} replicas" if copies > 1 else ""
        text = (
            f"a message of {size} MB{shares} between {pair} takes {_short(transfer)} ms on the link and "
            f"{_short(latency)} ms of latency, {_short(hop / forward)} times the longest F ({forward} ms)"
        )
        if link.bandwidth_gbps is not None and transfer > latency:
            text += f"; were the bandwidth in bytes, it would be {_short(transfer / BITS_PER_BYTE)} ms on the link"
        yield Notice("hop_above_ten_forwards", pointer(("links", number)), text)


def boundary_per_gpu(spec: Spec) -> Iterator[Notice]:
    """Tell of boundary sizes that fit one accelerator's shard rather than the tensor group's message.

    A boundary carries 2 bytes x microbatch x sequence x hidden size; measured on one accelerator of a group with
    sequence parallelism it is the tensor degree smaller.
    """
    training, tensor = spec.training, spec.parallel.tensor
    size = training.microbatch_size
    if not isinstance(tensor, int) or tensor < 2 or size is None or training.sequence_length is None:
        return
    for number, work in enumerate(stage_works(spec)):
        hidden = work.boundary_mb * 10**6 / (2 * size * training.sequence_length)
        if 0 < hidden < SMALLEST_HIDDEN <= hidden * tensor:
            where = (
                ("model", "stages", "boundary_mb") if is_uniform(spec) else ("model", "stages", number, "boundary_mb")
            )
            yield Notice(
                "boundary_per_gpu",
                pointer(where),
                f"{work.boundary_mb} MB at 2 bytes per value means a hidden size of {round(hidden)}; with tensor = "
                f"{tensor} it may be one GPU's shard of {round(hidden * tensor)}: give the message of the whole group",
            )
            return


def stage_works(spec: Spec) -> list[Work]:
    """List the measured stages; one for a count of like ones; none where the model is no measured stages."""
    if not isinstance(spec.model, StagesModel):
        return []
    stages = spec.model.stages
    return list(stages) if isinstance(stages, list) else [stages]


def is_uniform(spec: Spec) -> bool:
    """Whether the model is a count of like stages."""
    return isinstance(spec.model, StagesModel) and not isinstance(spec.model.stages, list)


def _copies(spec: Spec, link: Link) -> int:
    data = spec.parallel.data
    merged = spec.parallel.replica_messages == "merged" and not link.per_replica
    return data if merged and isinstance(data, int) else 1


def _transfer_ms(link: Link, size_mb: Decimal) -> Decimal:
    if link.transfer_ms is not None:
        return link.transfer_ms
    if link.transfer_table is not None:
        return max((time for size, time in link.transfer_table if size <= size_mb), default=Decimal(0))
    return Decimal(0) if link.bandwidth_gbps is None else size_mb * BITS_PER_BYTE / link.bandwidth_gbps


def _short(value: Decimal) -> str:
    return plain_text(round(value, 1 if value >= 10 else 3))
