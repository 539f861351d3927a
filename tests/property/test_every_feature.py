"""Random problems of every feature, half bound by memory and half by a lane: schedules, bounds and optimum agree.

What binds is proved: with all memory there could be, or lanes on which no message waits for another, the optimum is
smaller. On each, every schedule is accepted by the checker and no better than the optimum, and no bound is above it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.property.proving import EVERY_FEATURE, Proof, features, proved, small
from tests.unit.families.judged import accepted

from crosspipe.bounds.best import all_bounds
from crosspipe.bounds.obstacles import obstacles
from crosspipe.families.registry import run_families
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.machines import lattice_of
from crosspipe.problem.operations import NO_RESOURCE, Kind
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import value_ns

if TYPE_CHECKING:
    from tests.property.proving import Spec

FEW, MANY = 12, 200
MOST_OPERATIONS = 48
PROOF_S = 1.0
STRIDE = 8009
"""From one draw for a place to the next."""

MOST_DRAWS = 500
MOST_STATES = 20_000

PLACES = [place if place < FEW else pytest.param(place, marks=pytest.mark.slow) for place in range(MANY)]


@dataclass(frozen=True)
class Drawn:
    """A problem with its proved optimum, and without what binds it the smaller one."""

    spec: Spec
    problem: Problem
    objective: Objective
    proof: Proof
    freed_ns: int


def with_memory_to_spare(problem: Problem) -> Problem:
    return replace(problem, pools=tuple(replace(pool, capacity=None) for pool in problem.pools))


def with_a_lane_for_each_message(problem: Problem) -> Problem:
    """Messages take as long as before and never wait for each other, or for a lane to open."""
    ops = problem.operations
    message = (ops.kind == Kind.ACTIVATION) | (ops.kind == Kind.GRADIENT)
    resource = np.where(message, NO_RESOURCE, ops.resource)
    return replace(problem, operations=replace(ops, resource=resource))


@cache
def _drawn(place: int) -> Drawn:
    """Draw until memory (even places) or a lane (odd ones) is proved to bind; the span in every fourth pair."""
    free = with_a_lane_for_each_message if place % 2 else with_memory_to_spare
    objective = Objective.SPAN if place // 2 % 4 == 3 else Objective.MAKESPAN
    for draw in range(MOST_DRAWS):
        spec, problem = small(place + draw * STRIDE, MOST_OPERATIONS)
        freed = proved(free(problem), objective, PROOF_S)
        if not isinstance(freed, Proof):
            continue
        proof = proved(problem, objective, PROOF_S)
        if isinstance(proof, Proof) and freed.value_ns < proof.value_ns:
            return Drawn(spec, problem, objective, proof, freed.value_ns)
    raise AssertionError(f"nothing that binds in {MOST_DRAWS} draws")


@pytest.mark.parametrize("place", PLACES)
def test_the_optimum_lies_between_bounds_and_schedules(place: int) -> None:
    drawn = _drawn(place)
    problem, objective, optimum_ns = drawn.problem, drawn.objective, drawn.proof.value_ns
    assert drawn.freed_ns < optimum_ns
    assert obstacles(problem) == ()

    best = accepted(drawn.proof.problem, drawn.proof.orders, objective)
    assert value_ns(drawn.proof.problem, best, objective) == optimum_ns

    assert [bound for bound in all_bounds(problem, objective) if bound.value_ns > optimum_ns] == []
    lattice = lattice_of(drawn.proof.problem, MOST_STATES)
    if lattice is not None and objective is Objective.MAKESPAN:
        assert Tables(lattice).stands(optimum_ns // lattice.tick_ns) is not None

    decided = problem.recompute(frozenset()) if problem.choices else problem
    for family in run_families(decided, objective):
        if family.orders is None or family.value_ns is None:
            continue
        value = value_ns(decided, accepted(decided, family.orders, objective), objective)
        assert optimum_ns <= value <= family.value_ns


def _assert_covered(places: range, features_wanted: set[str]) -> None:
    drawn = [_drawn(place) for place in places]
    seen = Counter(name for one in drawn for name in features(one.spec, one.problem))
    assert features_wanted <= set(seen), seen
    assert len({(one.problem.digest, one.objective) for one in drawn}) > 0.8 * len(drawn)


def test_the_sample_says_most_of_what_a_spec_can_say() -> None:
    _assert_covered(range(FEW), {"memory limit", "lanes", "unlike stages", "memory until W", "extra operations"})


@pytest.mark.slow
def test_all_together_say_everything() -> None:
    _assert_covered(range(MANY), EVERY_FEATURE)
