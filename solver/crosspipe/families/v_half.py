"""V-Half (Qi et al., arXiv 2405.15362): the V placement at half the memory of 1F1B."""

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
    # With an even number of devices a loss of one unit would bring operations of a device together, modulo six units.
    return BuildingBlock(away=2, home=1, forward_turn=2, loss=1 if devices % 2 else 4, backward_turn=1)


def v_half(problem: Problem) -> DeviceOrders:
    """Repeat a block in which neighbours start two units apart on the way out and one on the way home, and squeeze it.

    Holds about half of what 1F1B holds, (p + 2) // 2 activations at most.

    Raises
    ------
    DoesNotFitError
        If the placement is no V with two stages per device, or a backward is combined.
    """
    placement = VPlacement.of(problem).in_units()
    block = block_for(placement.devices)
    return placement.steps(Squeeze(placement, block.starts(placement.devices)).run(Manner()).orders)
