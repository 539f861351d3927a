"""Input traps that show only beside the catalogue, or once times and sizes are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.costs.card_notices import card_notices
from crosspipe.costs.message_notices import boundary_per_gpu, slow_hops
from crosspipe.spec.notice import Notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.costs.degrees import Degrees
    from crosspipe.costs.pools import PlacedPool
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Stage


def cost_notices(
    expanded: Spec, stages: Sequence[Stage], degrees: Degrees, pools: Sequence[PlacedPool], *, estimated: bool
) -> tuple[Notice, ...]:
    """List the traps of an expanded spec with these stages and degrees, and of its pools as they were written."""
    return (
        *card_notices(pools),
        *(() if estimated else boundary_per_gpu(expanded, stages, degrees)),
        *slow_hops(expanded, stages, degrees),
    )


def overfull(need: float) -> Notice:
    """Tell that no pipeline has room for 1F1B; `need` is what the fullest device would hold over what it has."""
    message = (
        "no pipeline that these devices can make has room for the weights and the activations that 1F1B holds; the "
        f"least overfull was taken, at {need:.0%} of the fullest device"
    )
    return Notice("pipeline_does_not_fit", "/parallel/pipeline", message)
