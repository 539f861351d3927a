"""A lane serves one message at a time, and none while it is closed.

`end_i <= start_j or end_j <= start_i` for all i, j on the lane, and `end_i <= a or b <= start_i` for each closed
`[a, b)`: closed windows are further, fixed intervals. Messages of several stage pairs and replicas share the lane in
any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables


def add_lanes(model: CpModel, variables: Variables, ticks: Ticks) -> None:
    """Ensure that the transfers of each lane overlap neither each other nor its closed windows."""
    for number, closed in enumerate(ticks.closed, start=len(ticks.problem.devices)):
        intervals = [variables.interval[row] for row in ticks.problem.by_resource[number].tolist()]
        present = [interval for interval in intervals if interval is not None]
        if not present:
            continue
        present += [model.new_fixed_size_interval_var(start, end - start, "") for start, end in closed]
        if len(present) > 1:
            model.add_no_overlap(present)
