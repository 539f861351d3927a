"""Every bound has a certificate that holds, none above the proved optimum; whatever is altered is refused."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.golden.cases import all_cases, expected
from tests.golden.compiled import compile_all, problem_of
from tests.golden.mapping import unit_ns
from tests.property.random_specs import random_spec
from tests.property.test_bounds import UNIT, proved_optimum, specs
from tests.unit.bounds.specs import problems_of
from tests.unit.certificate.forging import certificate, certificates, forgeries
from tests.unit.lattice.standing import least_standing

from crosspipe.bounds.obstacles import obstacles
from crosspipe.certificate.verify import verify
from crosspipe.certificate.write import part_of
from crosspipe.lattice.dive import Diver, Rule
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.machines import lattice_of
from crosspipe.lattice.tree import tree_of
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

MOST_STATES = 20_000
MOST_NODES = 500
MOST_OPERATIONS = 36
"""Operations up to which the plain model proves an optimum in no time."""

SAMPLED = 8
"""Alterations tried of each certificate of a random problem; small problems in `test_verify` have all of theirs."""

GOLDEN = [case["id"] for case in all_cases() if case["kind"] == "schedule" and case["expect"]["status"] == "optimal"]


@pytest.mark.parametrize("case_id", GOLDEN)
def test_golden_bounds_are_derived_again_and_none_above_the_optimum(case_id: str) -> None:
    problem = problem_of(case_id)
    case = next(case for case in all_cases() if case["id"] == case_id)
    optimum_ns = expected(case) * unit_ns(case)
    objective = Objective(case["objective"])
    for one in certificates(problem, objective):
        verdict = verify(problem, one)
        assert verdict.ok, verdict.reason
        assert verdict.bound_ns == one["bound_ns"] <= optimum_ns
    if objective is Objective.MAKESPAN:
        assert not verify(problem, count_states(problem, optimum_ns + 1)).ok


def test_bounds_of_random_problems_are_derived_again() -> None:
    """Windows, unlike microbatches, replicas, recompute choices, extra operations: what a spec can say."""
    kinds: set[str] = set()
    for seed in range(30):
        for problem in compile_all(random_spec(seed)):
            if obstacles(problem):
                continue
            for objective in Objective:
                for one in certificates(problem, objective):
                    verdict = verify(problem, one)
                    assert verdict.ok, (seed, objective, verdict.reason)
                    kinds.add(one["parts"][0]["kind"])
    loads = {"device load", "lane load", "span load"}
    assert kinds == loads | {"energy", "critical path", "start-up", "last forward", "round trip", "cases"}


def test_two_hundred_forged_certificates_are_refused() -> None:
    """One thing altered in each, of certificates of every kind."""
    rng = random.Random(1)  # noqa: S311  # which alterations are tried, not a secret
    tried = 0
    kinds: set[str] = set()
    for seed in range(12):
        for problem in compile_all(random_spec(seed)):
            if obstacles(problem):
                continue
            for objective in Objective:
                one = rng.choice(certificates(problem, objective))
                kinds.add(one["parts"][0]["kind"])
                for what, forged in rng.sample(list(forgeries(one, UNIT)), SAMPLED):
                    verdict = verify(problem, forged)
                    assert not verdict.ok, (seed, what)
                    assert verdict.outcome == "refused"
                    tried += 1
    assert tried >= 200
    assert len(kinds) >= 5


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(specs())
def test_no_bound_above_the_proved_optimum_is_verified(spec: dict[str, Any]) -> None:
    (problem,) = problems_of(spec)
    assume(len(problem.operations) <= MOST_OPERATIONS and len(problem.choices) <= 1)
    optimum = proved_optimum(problem, Objective.MAKESPAN)
    if optimum is None:
        return
    assert not verify(problem, count_states(problem, optimum * UNIT + 1)).ok
    lattice = None if problem.choices else lattice_of(problem, MOST_STATES)
    if lattice is None:
        return
    # What the compiled lattice derives holds, and its trees as well; both stop at the optimum.
    tables = Tables(lattice)
    target = least_standing(tables, 0, optimum * UNIT // lattice.tick_ns)
    if target > 0:
        assert verify(problem, count_states(problem, target * lattice.tick_ns)).ok
    found = Diver(tables).dive(target, Rule(0, 0), 0, 10**9, MOST_NODES)
    if found.outcome == "refuted" and found.trace is not None:
        bound_ns = (target + 1) * lattice.tick_ns
        assert bound_ns <= optimum * UNIT
        tree = tree_of(lattice, found.trace)
        assert verify(problem, split(problem, bound_ns, tree)).ok


def count_states(problem: Problem, bound_ns: int) -> dict[str, Any]:
    part = part_of("count states", "", bound_ns, {})
    assert part is not None
    return certificate(problem, part)


def split(problem: Problem, bound_ns: int, tree: list[Any]) -> dict[str, Any]:
    part = part_of("case split", "", bound_ns, {"tree": tree})
    assert part is not None
    return certificate(problem, part)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@given(st.recursive(SCALARS, _nested, max_leaves=8))
@settings(max_examples=60, deadline=None)
def test_anything_at_all_is_refused(junk: Any) -> None:
    problem = problem_of("partial_release-11")
    assert verify(problem, junk).outcome == "refused"
    given_one = certificates(problem)[0]
    for name in given_one:
        assert verify(problem, given_one | {name: junk}).outcome == "refused" or junk == given_one[name]
