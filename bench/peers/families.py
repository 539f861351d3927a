"""The static families, as a peer: no search at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.measurement import Measurement
from crosspipe.families.portfolio import best_greedy
from crosspipe.families.registry import FAMILIES, GREEDY, Family, best_of, run_families
from crosspipe.problem.free import free_links

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.contest import Contest
    from crosspipe.families.registry import FamilyResult
    from crosspipe.problem.problem import Objective, Problem


START_S = 0.5
"""Time for the greedy's runs."""

KNOWN = {family.name: family for family in FAMILIES}
NAMES = (*KNOWN, GREEDY)
"""Known schedules, each a contender of its own; the greedy's whole portfolio is one."""


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


def run_static(name: str, contest: Contest) -> Measurement:
    """Put one known schedule to the instance with the orders it has where links between sites are free."""
    given = KNOWN[name]
    static = Family(name, lambda problem: given.steps(free_links(problem)), given.combined)
    return _alone(static.put_to, contest)


def run_one(name: str, contest: Contest) -> Measurement:
    """Put one known schedule, or the greedy, to the instance."""
    return _alone(best_greedy if name == GREEDY else KNOWN[name].put_to, contest)


def _alone(put_to: Callable[[Problem, Objective], FamilyResult], contest: Contest) -> Measurement:
    problem, objective = contest.compiled()
    result = put_to(problem, objective)
    contest.say(result.value_ns, None, result.name)
    return Measurement(
        status="unknown" if result.value_ns is None else "feasible",
        value_ns=result.value_ns,
        total_s=contest.seconds,
        value_from=None if result.value_ns is None else result.name,
        notes={} if result.value_ns is not None else {"reason": result.reason},
    )


def simple_start(problem: Problem, objective: Objective) -> FamilyResult | None:
    """Give the best of the static families and of half a second of greedy runs: a start for solvers that take one."""
    return best_of(run_families(problem, objective, budget_s=START_S))
