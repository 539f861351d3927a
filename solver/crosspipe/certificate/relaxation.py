"""The problem with recompute choices settled: some as a case says, the rest at their better of both.

With the shorter duration and the smaller amount in place, every schedule under any choice stays one, and ends no later.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crosspipe.certificate.verdict import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.problem.problem import Problem


def settled(problem: Problem, case: Mapping[int, bool]) -> Problem:
    """Settle the choices of the stages in `case`, relax the others; without open choices the problem itself."""
    if problem.recomputed or not problem.choices:
        if case:
            raise RefusedError("no recompute choice is open")
        return problem
    if unknown := sorted(set(case) - {choice.stage for choice in problem.choices}):
        raise RefusedError(f"stage {unknown[0]} has no recompute choice")
    durations, amounts = problem.operations.duration_ns.copy(), problem.holdings.amount.copy()
    for choice in problem.choices:
        taken = case.get(choice.stage)
        ways = (
            (durations, choice.operations, choice.durations_ns),
            (amounts, choice.holdings, choice.amounts),
        )
        for column, places, others in ways:
            for place, other in zip(places.tolist(), others.tolist(), strict=True):
                if taken is True or (taken is None and other < column[place]):
                    column[place] = other
    return replace(
        problem,
        operations=replace(problem.operations, duration_ns=durations),
        holdings=replace(problem.holdings, amount=amounts),
        choices=(),
    )
