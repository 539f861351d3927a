"""Messages over two links: on tiny instances the proved optimum of a solve is what trying every order finds.

Three sites in a row, s0 - s1 - s2; the stages sit on s0, s2, s1, so that boundary 0 is crossed by way of s1, and its
second link is the one that boundary 1 is crossed by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.golden.compiled import compile_all
from tests.property.brute_force import BruteForce
from tests.property.test_certificates import count_states, split
from tests.property.tiny_specs import tiny_spec, with_unlike_microbatches
from tests.solving import assert_sound, solve_here
from tests.unit.certificate.forging import certificates
from tests.unit.lattice.standing import least_standing

from crosspipe.answer.units import to_ms
from crosspipe.certificate.verify import verify
from crosspipe.lattice.dive import Diver, Rule
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.machines import lattice_of
from crosspipe.lattice.tree import tree_of
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

FEW, MANY = 8, 40
SEEDS = [seed if seed < FEW else pytest.param(seed, marks=pytest.mark.slow) for seed in range(MANY)]
MOST_STATES = 20_000
MOST_NODES = 500


def routed_spec(seed: int) -> dict[str, Any]:
    """Every fourth with microbatches of unlike length."""
    spec = tiny_spec(seed, devices=3, most_microbatches=2)
    if seed % 4 == 3:
        spec = with_unlike_microbatches(spec, seed)
    spec["placement"]["map"] = ["s0/0", "s2/0", "s1/0"]
    near, far = (spec["sites"][name]["memory_gb"] for name in ("s1", "s2"))
    spec["sites"]["s1"]["memory_gb"], spec["sites"]["s2"]["memory_gb"] = far, near
    for stage in spec["model"]["stages"]:
        stage["boundary_mb"], stage["gradient_mb"] = max(stage["boundary_mb"], 1), max(stage["gradient_mb"], 1)
    return spec


def _problem(seed: int) -> Problem:
    (problem,) = compile_all(routed_spec(seed))
    return problem


@pytest.mark.parametrize("seed", SEEDS)
def test_the_proved_optimum_is_what_every_order_gives(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, problem = routed_spec(seed), _problem(seed)
    assert [hop.link for hop in problem.hops][:2] == ["s0-s1, s1-s2", "s1-s2, s0-s1"]
    wanted = BruteForce(problem, in_index_order=problem.identical).solve()
    answer = solve_here(monkeypatch, spec, time_limit_s=60)
    assert_sound(spec, answer)
    if wanted is None:
        assert answer.status == "infeasible"
    else:
        assert (answer.status, answer.makespan_ms) == ("optimal", to_ms(wanted))
        _assert_bounds_hold(problem, wanted)


def _assert_bounds_hold(problem: Problem, optimum_ns: int) -> None:
    """Every bound, and what the lattice refutes, is derived again, and none is above the optimum."""
    for one in certificates(problem, Objective.MAKESPAN):
        verdict = verify(problem, one)
        assert verdict.ok, verdict.reason
        assert verdict.bound_ns is not None
        assert verdict.bound_ns <= optimum_ns
    lattice = lattice_of(problem, MOST_STATES)
    assert (lattice is None) == (not problem.identical)
    if lattice is None:
        return
    assert not verify(problem, count_states(problem, optimum_ns + 1)).ok
    tables = Tables(lattice)
    target = least_standing(tables, 0, optimum_ns // lattice.tick_ns)
    if target > 0:
        assert verify(problem, count_states(problem, target * lattice.tick_ns)).ok
    found = Diver(tables).dive(target, Rule(0, 0), 0, 10**9, MOST_NODES)
    if found.outcome == "refuted" and found.trace is not None:
        bound_ns = (target + 1) * lattice.tick_ns
        assert bound_ns <= optimum_ns
        assert verify(problem, split(problem, bound_ns, tree_of(lattice, found.trace))).ok
