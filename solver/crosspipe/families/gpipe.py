"""GPipe (Huang et al. 2019): all forwards, then all backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.families.steps import DeviceOrders, Step, stages_by_device
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def gpipe(problem: Problem) -> DeviceOrders:
    """Order F's by stage upward, backwards by stage downward, each in microbatch order.

    Fits every placement: the order is part of one total order of all operations that respects every dependency.
    """
    microbatches = range(problem.microbatches)
    return [
        [Step(Kind.F, stage, j) for stage in stages for j in microbatches]
        + [Step(kind, stage, j) for stage in reversed(stages) for j in microbatches for kind in (Kind.B, Kind.W)]
        for stages in stages_by_device(problem)
    ]
