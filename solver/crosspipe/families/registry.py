"""Every way of building a schedule without search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.families.gpipe import gpipe
from crosspipe.families.interleaved import interleaved
from crosspipe.families.known import Family, FamilyResult
from crosspipe.families.one_f_one_b import one_f_one_b, split_one_f_one_b
from crosspipe.families.portfolio import GREEDY, best_greedy
from crosspipe.families.v_half import v_half
from crosspipe.families.v_min import v_min
from crosspipe.families.zb_v import zb_v
from crosspipe.families.zero_bubble import zb_h1, zb_h2

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosspipe.problem.problem import Objective, Problem

FAMILIES: tuple[Family, ...] = (
    Family("GPipe", gpipe, combined=True),
    Family("1F1B", one_f_one_b, combined=True),
    Family("1F1B split", split_one_f_one_b),
    Family("interleaved 1F1B", interleaved, combined=True),
    Family("ZB-H1", zb_h1),
    Family("ZB-H2", zb_h2),
    Family("ZB-V", zb_v),
    Family("V-Half", v_half),
    Family("V-Min", v_min),
)
"""Known schedules, in the order in which they are shown."""


def run_families(
    problem: Problem, objective: Objective, budget_s: float | None = None, target_ns: int | None = None
) -> tuple[FamilyResult, ...]:
    """Put every known schedule, then the greedy, to a problem.

    Parameters
    ----------
    problem
        The problem.
    objective
        What is made small.
    budget_s, target_ns
        Limits of the greedy's portfolio, see `best_greedy`.
    """
    known = tuple(family.put_to(problem, objective) for family in FAMILIES)
    return (*known, best_greedy(problem, objective, budget_s, target_ns))


def best_of(results: Iterable[FamilyResult]) -> FamilyResult | None:
    """Find the result of least value among those that fit (the first of equals); None if none fits."""
    fitting = [result for result in results if result.value_ns is not None]
    return min(fitting, key=lambda result: result.value_ns or 0, default=None)


__all__ = ["FAMILIES", "GREEDY", "Family", "FamilyResult", "best_of", "run_families"]
