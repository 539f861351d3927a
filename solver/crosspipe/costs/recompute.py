"""What a stage holds of one microbatch, and how much longer its backward takes, under each policy of recomputation.

The backward goes through the layers of a stage last to first: while it is at one, the layers before hold what F left of
them, that one holds all that it needs, and those behind hold what their W needs. The largest such sum is what the stage
holds during B; what the layers need for W is what it holds from B to W (where the backward is not split: nothing).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crosspipe.costs.work import NO_FLOPS, Flops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.costs.chain import Item
    from crosspipe.costs.memory import Held
    from crosspipe.spec.model import Recompute

SELECTIVE_SHARE: Final = 100
"""The selective policy adds a hundredth of F, B and W (sail-sg/zero-bubble-pipeline-parallelism, issue 67)."""


@dataclass(frozen=True, slots=True)
class StageHeld:
    """Bytes of one microbatch in a stage.

    Attributes
    ----------
    activation
        Taken at the start of F.
    extra
        Taken at the start of the backward and given back at the end of W.
    retained
        The part of `activation` kept from the end of B to the end of W.
    """

    activation: int
    extra: int
    retained: int


def recompute_ways(items: Sequence[Item]) -> tuple[Recompute, ...]:
    """List what a stage may recompute: transformer layers only, so that the head alone has no choice."""
    return ("none",) if all(item.layer is None for item in items) else ("none", "selective", "full")


def stage_held(items: Sequence[Item], way: Recompute, *, split: bool) -> StageHeld:
    """Say what a stage holds; `split` tells whether B and W are operations of their own."""
    kept = [_kept(item.held, way) for item in items]
    later = [item.held.retained if split else 0 for item in items]
    before, behind, peak = 0, sum(later), 0
    for mine, item, left in zip(kept, items, later, strict=True):
        behind -= left
        peak = max(peak, before + max(item.held.activation, left) + behind)
        before += mine
    extra = max(0, peak - before)
    retained = sum(item.held.retained for item in items)
    return StageHeld(before, extra, min(before, max(0, retained - extra)))


def _kept(held: Held, way: Recompute) -> int:
    """Bytes that F leaves of one item."""
    return {"none": held.activation, "selective": held.selective, "full": held.full}[way]


def flops_again(items: Sequence[Item], way: Recompute, *, flash: bool) -> Flops:
    """Count the work of recomputation as a further F.

    `full`: F once more, but for the head. `selective`: a hundredth of the step, and attention with stored scores once
    more; a flash kernel computes its scores again anyway. Korthikanti et al. (arXiv 2205.05198), sections 4.2 and 5.
    """
    layers = [item.flops for item in items if item.layer is not None]
    attention = sum(flops.attention for flops in layers)
    if way == "full":
        return Flops(sum(flops.forward - flops.head for flops in layers), 0, 0, attention)
    if way == "selective":
        scores = 0 if flash else attention
        return Flops(sum(flops.total for flops in layers) // SELECTIVE_SHARE + scores, 0, 0, scores)
    return NO_FLOPS
