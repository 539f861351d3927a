"""1F1B (PipeDream-flush, Narayanan et al. 2021): one stage per device, warm-up as deep as the pipeline below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.families.steps import DeviceOrders, Step, require_one_stage_per_device, require_split, stages_by_device
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def one_f_one_b(problem: Problem) -> DeviceOrders:
    """Order stage s of p: min(p-s-1, m) F's, then pairs of F and backward, then the backwards left.

    Raises
    ------
    DoesNotFitError
        If a device holds several stages.
    """
    require_one_stage_per_device(problem)
    p, m = len(problem.stages), problem.microbatches
    orders: DeviceOrders = []
    for stages in stages_by_device(problem):
        steps: list[Step] = []
        for s in stages:
            ahead = min(p - s - 1, m)
            steps += [Step(Kind.F, s, j) for j in range(ahead)]
            for j in range(m):
                if ahead + j < m:
                    steps.append(Step(Kind.F, s, ahead + j))
                steps += [Step(Kind.B, s, j), Step(Kind.W, s, j)]
        orders.append(steps)
    return orders


def split_one_f_one_b(problem: Problem) -> DeviceOrders:
    """Order as 1F1B, but the gradient leaves at the end of B; W follows at once.

    Raises
    ------
    DoesNotFitError
        If a device holds several stages, or a backward is combined.
    """
    require_split(problem)
    return one_f_one_b(problem)
