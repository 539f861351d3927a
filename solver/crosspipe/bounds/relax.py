"""What holds whichever recompute options are taken, or with some of them decided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.problem.problem import Problem


def relaxed(problem: Problem, decided: Mapping[int, bool] | None = None) -> Problem:
    """Return the problem with the shorter duration and the smaller amount of every undecided recompute choice.

    Any schedule under any choice, with its operations shortened and its holdings lowered in place, is a schedule of
    the relaxed problem with the same makespan and span or smaller ones. So a bound of the relaxed problem bounds them
    all, and a condition it cannot meet none of them meets. `decided` maps stages to whether they recompute: the result
    then speaks for the choices that agree. A problem without open choices is returned as it is.
    """
    if not problem.choices or problem.recomputed:
        return problem
    durations, amounts = problem.operations.duration_ns.copy(), problem.holdings.amount.copy()
    for choice in problem.choices:
        taken = (decided or {}).get(choice.stage)
        if taken is None:
            durations[choice.operations] = np.minimum(durations[choice.operations], choice.durations_ns)
            amounts[choice.holdings] = np.minimum(amounts[choice.holdings], choice.amounts)
        elif taken:
            durations[choice.operations] = choice.durations_ns
            amounts[choice.holdings] = choice.amounts
    return replace(
        problem,
        operations=replace(problem.operations, duration_ns=durations),
        holdings=replace(problem.holdings, amount=amounts),
        choices=(),
    )
