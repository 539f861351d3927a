"""Where a schedule may slide in time it is held at 0: for the span, which does not count from 0.

Without closed windows every schedule can move earlier as a whole until something starts at 0; no span changes and no
deadline is missed. If one operation comes before all others, it is the one that starts at 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.arcs import Arcs
    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables


def anchor(ticks: Ticks, arcs: Arcs) -> int | None:
    """Find the operation that may be held at 0, None if there is none or nothing slides."""
    if ticks.objective is not Objective.SPAN or any(ticks.closed):
        return None
    entering = np.bincount(arcs.after, minlength=len(ticks.duration))
    roots = np.flatnonzero(entering == 0)
    return int(roots[0]) if len(roots) == 1 else None


def add_anchor(model: CpModel, variables: Variables, held: int | None) -> None:
    """Ensure that the operation held at 0, if any, starts at 0."""
    if held is not None:
        model.add(variables.start[held] == 0)
