"""A problem that is easier than every choice of recompute options, for bounds that hold whatever is chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def relax_choices(problem: Problem) -> Problem:
    """Return the problem without options in which each operation takes the shorter time, each holding the less memory.

    Every schedule of every choice, its operations cut short, is a schedule of the result. So a lower bound of the
    result holds for the problem; its orders are of no use in themselves.
    """
    durations, amounts = problem.operations.duration_ns.copy(), problem.holdings.amount.copy()
    for choice in problem.choices:
        durations[choice.operations] = np.minimum(durations[choice.operations], choice.durations_ns)
        amounts[choice.holdings] = np.minimum(amounts[choice.holdings], choice.amounts)
    return replace(
        problem,
        operations=replace(problem.operations, duration_ns=durations),
        holdings=replace(problem.holdings, amount=amounts),
        choices=(),
    )
