"""Input traps that show only beside the catalogue, or once times and sizes are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.costs.card_notices import card_notices
from crosspipe.costs.message_notices import boundary_per_gpu, slow_hops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.costs.degrees import Degrees
    from crosspipe.costs.pools import PlacedPool
    from crosspipe.spec.model import Spec
    from crosspipe.spec.notice import Notice
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
