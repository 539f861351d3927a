"""ZB-V (Qi et al., arXiv 2401.10241 and 2405.15362): the V placement at the memory of 1F1B, without steady bubbles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.families.building_block import BuildingBlock
from crosspipe.families.squeeze import Squeeze
from crosspipe.families.squeeze_device import Manner
from crosspipe.families.v_placement import VPlacement

if TYPE_CHECKING:
    from crosspipe.families.squeeze import Squeezed
    from crosspipe.families.steps import DeviceOrders
    from crosspipe.problem.problem import Problem

BLOCK = BuildingBlock(away=4, home=2, forward_turn=1, loss=1, backward_turn=1)
"""A message may take three units on the way out and one on the way home before the rhythm slows down."""

FIRST = (
    Manner(yields=True),
    Manner(yields=True, patience=0.5),
    Manner(patience=1.0, weight_patience=1.0),
)
"""Runs whose best says how long a device may idle in two more: fill all idle time, most of it, keep the rhythm."""

LARGE = 20_000
"""Above this many steps only the first of the runs is made: each takes seconds."""


def zb_v(problem: Problem) -> DeviceOrders:
    """Squeeze a repeated block with the problem's times and memory; of five runs the one of least span is taken.

    In the last two a device waits for what comes next, rather than run what would delay it, only while its bubble stays
    within the average of the best run before or the largest so far (as in the heuristic of arXiv 2401.10241). Holds p
    activations; more where the memory is larger and F's run early keep a device from idling. Where no limit is set, p
    activations are the limit.

    Raises
    ------
    DoesNotFitError
        If the placement is no V with two stages per device, or a backward is combined.
    """
    placement = VPlacement.of(problem)
    squeeze = Squeeze(placement, BLOCK.starts(placement.devices))
    if len(problem.stages) * problem.microbatches * 3 > LARGE:
        return placement.steps(squeeze.run(FIRST[0]).orders)
    best = min(map(squeeze.run, FIRST), key=_bubble)
    allowed = sum(best.idle) // len(best.idle)
    even = [squeeze.run(Manner(yields, 1.0, 1.0, allowed)) for yields in (False, True)]
    return placement.steps(min(best, *even, key=_bubble).orders)


def _bubble(run: Squeezed) -> tuple[int, int]:
    return run.span, run.makespan
