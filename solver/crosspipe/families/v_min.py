"""V-Min (Qi et al., arXiv 2405.15362): the V placement with the least memory that one building block needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.families.building_block import BuildingBlock
from crosspipe.families.squeeze import Squeeze
from crosspipe.families.squeeze_device import Manner
from crosspipe.families.v_placement import VPlacement

if TYPE_CHECKING:
    from crosspipe.families.steps import DeviceOrders
    from crosspipe.problem.problem import Problem


def block_for(devices: int) -> BuildingBlock:
    """Give the block that may be repeated on so many devices."""
    # A multiple of three devices would bring the F's and the B's of a device together, modulo six units.
    return BuildingBlock(away=1, home=1, forward_turn=1, loss=1 if devices % 3 else 3, backward_turn=1)


def v_min(problem: Problem) -> DeviceOrders:
    """Repeat a block in which neighbours start one unit apart, and squeeze it in unit time.

    Holds about a third of what 1F1B holds, (p + 4) // 3 activations at most.

    Raises
    ------
    DoesNotFitError
        If the placement is no V with two stages per device, or a backward is combined.
    """
    placement = VPlacement.of(problem).in_units()
    block = block_for(placement.devices)
    return placement.steps(Squeeze(placement, block.starts(placement.devices)).run(Manner()).orders)
