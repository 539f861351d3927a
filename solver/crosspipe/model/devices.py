"""A device runs one operation at a time: `end_i <= start_j or end_j <= start_i` for all i, j on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables


def add_devices(model: CpModel, variables: Variables, ticks: Ticks) -> None:
    """Ensure that the operations of each device (compute and extra) do not overlap."""
    for device in range(len(ticks.problem.devices)):
        intervals = [variables.interval[number] for number in ticks.problem.by_resource[device].tolist()]
        present = [interval for interval in intervals if interval is not None]
        if len(present) > 1:
            model.add_no_overlap(present)
