"""Input traps that show only beside the catalogue, or once times and sizes are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.costs.card_notices import card_notices
from crosspipe.costs.degrees import AUTO_TENSOR
from crosspipe.costs.measured_notices import measured_against_bandwidth
from crosspipe.costs.message_notices import boundary_per_gpu, slow_hops
from crosspipe.costs.window_notices import window_notices
from crosspipe.spec.notice import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.costs.degrees import Degrees, Request
    from crosspipe.costs.pools import PlacedPool
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Stage

SMALL_TENSOR = 4
"""An automatic tensor degree that many times below the usual one makes another training run of it."""


def cost_notices(
    expanded: Spec, stages: Sequence[Stage], degrees: Degrees, pools: Sequence[PlacedPool], *, estimated: bool
) -> tuple[Notice, ...]:
    """List the traps of an expanded spec with these stages and degrees, and of its pools as they were written."""
    return (
        *card_notices(pools),
        *(() if estimated else boundary_per_gpu(expanded, stages, degrees)),
        *slow_hops(expanded, stages, degrees),
        *measured_against_bandwidth(expanded, stages, degrees),
        *window_notices(expanded, stages),
    )


def small_tensor(request: Request, degrees: Degrees) -> Iterator[Notice]:
    """Tell of a pool whose number of GPUs has made `tensor: auto` far smaller than model and pools would allow."""
    if request.tensor is not None or request.heads is None or not request.gpus:
        return
    least = min(gpus for _, gpus in request.gpus)
    usual = next(tensor for tensor in AUTO_TENSOR if tensor <= least and request.heads % tensor == 0)
    if degrees.tensor * SMALL_TENSOR > usual:
        return
    for pointer, gpus in request.gpus:
        if gpus % usual:
            nearest = max(1, round(gpus / usual)) * usual
            message = (
                f"{gpus} GPUs are no multiple of {usual}, so `tensor` became {degrees.tensor} where {usual} is usual; "
                f"were {nearest} meant? If not, give `parallel.tensor`"
            )
            yield Notice("tensor_is_small", pointer, message)


def overfull(need: float) -> Notice:
    """Tell that no pipeline has room for 1F1B; `need` is what the fullest device would hold over what it has."""
    message = (
        "no pipeline that these devices can make has room for the weights and the activations that 1F1B holds; the "
        f"least overfull was taken, at {need:.0%} of the fullest device"
    )
    return Notice("pipeline_does_not_fit", "/parallel/pipeline", message)
