"""Interleaved 1F1B (Narayanan et al. 2021): several chunks per device in a loop, for any number of microbatches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.errors import DoesNotFitError
from crosspipe.families.steps import DeviceOrders, Step, stages_by_device
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def interleaved(problem: Problem) -> DeviceOrders:
    """Order device r of p with v chunks: 2(p-r-1) + (v-1)p steps of F, then pairs of F and backward, then backwards.

    Both kinds go through the microbatches in groups of p: all chunks of a group before the next, F's from the first
    chunk, backwards from the last. If p does not divide m the order is that of the next multiple of p with the
    microbatches beyond m left out: it cannot wait for itself, as the full order does not (cutting the last group short
    before pairing does, for example with p = 5, two chunks and m = 7).

    Raises
    ------
    DoesNotFitError
        If the stages do not run round the devices several times.
    """
    p, v = problem.devices_per_replica, len(problem.stages) // problem.devices_per_replica
    looped = all(info.device == stage % p for stage, info in enumerate(problem.stages))
    if v < 2 or len(problem.stages) != p * v or not looped:
        raise DoesNotFitError(
            f"needs a loop placement with several stages per device, this is {problem.traversal} "
            f"({len(problem.stages)} stages on {p} devices)"
        )
    m = problem.microbatches
    groups = [range(first, first + p) for first in range(0, m, p)]
    orders: DeviceOrders = []
    for r, stages in enumerate(stages_by_device(problem)):
        forwards = [Step(Kind.F, s, j) for group in groups for s in stages for j in group]
        backwards = [(s, j) for group in groups for s in reversed(stages) for j in group]
        ahead = min(2 * (p - r - 1) + (v - 1) * p, len(forwards))
        steps = forwards[:ahead]
        for i, (s, j) in enumerate(backwards):
            if ahead + i < len(forwards):
                steps.append(forwards[ahead + i])
            steps += [Step(Kind.B, s, j), Step(Kind.W, s, j)]
        orders.append([step for step in steps if step.microbatch < m])
    return orders
