"""Which open assignments the joint model knows all of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.space import Space
    from crosspipe.spec.stages import Stage

MOST_OPERATIONS = 2_000


def refusal(space: Space) -> str | None:
    """Say why the joint model does not apply to a space; None if it does."""
    if space.leave_unused:
        return "every device must hold a stage"
    if space.devices > space.items:
        return "there are fewer items than devices"
    if 3 * space.devices * space.microbatches > MOST_OPERATIONS:
        return f"at most {MOST_OPERATIONS} operations"
    beyond = _beyond_a_chain(space)
    return None if beyond is None else f"it knows nothing of {beyond}"


def _beyond_a_chain(space: Space) -> str | None:
    """Find what a spec has beside a chain of like microbatches whose messages only wait."""
    spec = space.spec
    limits = spec.limits
    items = [space.stage(item, item + 1, "none") for item in range(space.items)]
    trains = all(space.run(item, item + 1, 0, "none").trains for item in range(space.items))
    found = {
        "unlike microbatches": not isinstance(spec.training.microbatches, int),
        "layers without a backward": not trains,
        "recompute options of stages": any(item.recompute_option is not None for item in items),
        "gradients or extra operations": spec.gradients is not None or bool(spec.extra_operations),
        "limits": any((limits.in_flight is not None, limits.deadline_ms is not None, limits.stage_deadlines_ms)),
        "closed links": any(link.closed_ms for link in spec.links),
        "messages that occupy links": _occupies(space, items),
    }
    return next((what for what, there in found.items() if there), None)


def _occupies(space: Space, items: Sequence[Stage]) -> bool:
    """Whether a message may take time on a link or a hop."""
    links = space.spec.links
    if any(link.transfer_ms or link.transfer_table for link in links):
        return True
    if not any(item.boundary_mb or item.gradient_mb for item in items[:-1]):
        return False
    rates = [*(link.bandwidth_gbps for link in links), *(site.hop_bandwidth_gbps for site in space.spec.sites.values())]
    return any(rates)
