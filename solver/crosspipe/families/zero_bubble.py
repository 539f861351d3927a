"""ZB-H1 and ZB-H2 (Qi et al., arXiv 2401.10241): B and W apart, W's fill the drain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.families.steps import DeviceOrders, Step, require_one_stage_per_device, require_split, stages_by_device
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.problem.problem import Problem


def zb_h1(problem: Problem) -> DeviceOrders:
    """Order stage s of p: p-s-1 F's; pairs of F and B, the i-th (from 0) followed by a W once i >= s; then every B left
    with a W after it; then the W's left. Holds no more than 1F1B.

    Raises
    ------
    DoesNotFitError
        If a device holds several stages, or a backward is combined.
    """  # noqa: D205 - the order is one sentence
    return _by_stage(problem, _h1)


def zb_h2(problem: Problem) -> DeviceOrders:
    """Order stage s of p: 2(p-s)-1 F's; then B, a W if more than 2s are outstanding, an F while any is left; then W's.

    Holds up to 2p-1 activations.

    Raises
    ------
    DoesNotFitError
        If a device holds several stages, or a backward is combined.
    """
    return _by_stage(problem, _h2)


def _by_stage(problem: Problem, order: Callable[[int, int, int], list[Step]]) -> DeviceOrders:
    require_one_stage_per_device(problem)
    require_split(problem)
    p, m = len(problem.stages), problem.microbatches
    return [[step for s in stages for step in order(s, p, m)] for stages in stages_by_device(problem)]


def _h1(s: int, p: int, m: int) -> list[Step]:
    ahead = min(p - s - 1, m)
    steps = [Step(Kind.F, s, j) for j in range(ahead)]
    weights = 0
    for j in range(m):
        paired = ahead + j < m
        if paired:
            steps.append(Step(Kind.F, s, ahead + j))
        steps.append(Step(Kind.B, s, j))
        if not paired or j >= s:
            steps.append(Step(Kind.W, s, weights))
            weights += 1
    return steps + [Step(Kind.W, s, j) for j in range(weights, m)]


def _h2(s: int, p: int, m: int) -> list[Step]:
    ahead = min(2 * (p - s) - 1, m)
    steps = [Step(Kind.F, s, j) for j in range(ahead)]
    weights = 0
    for j in range(m):
        steps.append(Step(Kind.B, s, j))
        if j + 1 - weights > 2 * s:
            steps.append(Step(Kind.W, s, weights))
            weights += 1
        if ahead + j < m:
            steps.append(Step(Kind.F, s, ahead + j))
    return steps + [Step(Kind.W, s, j) for j in range(weights, m)]
