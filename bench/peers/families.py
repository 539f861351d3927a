"""The static families, as a peer: no search at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.measurement import Measurement
from crosspipe.families.registry import FAMILIES, best_of, run_families

if TYPE_CHECKING:
    from bench.contest import Contest
    from crosspipe.families.registry import FamilyResult
    from crosspipe.problem.problem import Objective, Problem


START_S = 0.5
"""Time for the greedy's runs."""


def run(contest: Contest) -> Measurement:
    """Put every static family to the instance."""
    problem, objective = contest.compiled()
    results = []
    for family in FAMILIES:
        results.append(family.put_to(problem, objective))
        contest.say(results[-1].value_ns, None, family.name)
    best = best_of(results)
    return Measurement(
        status="unknown" if best is None else "feasible",
        value_ns=None if best is None else best.value_ns,
        total_s=contest.seconds,
        value_from=None if best is None else best.name,
        notes={result.name: result.reason if result.value_ns is None else result.value_ns for result in results},
    )


def simple_start(problem: Problem, objective: Objective) -> FamilyResult | None:
    """Give the best of the static families and of half a second of greedy runs: a start for solvers that take one."""
    return best_of(run_families(problem, objective, budget_s=START_S))
