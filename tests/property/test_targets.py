"""Targets on problems of every feature: the proved optimum is met, or not refuted; one less is never met."""

from __future__ import annotations

import pytest
from tests.property.proving import Proof, proved, small

from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.machines import lattice_of
from crosspipe.lattice.starts import start_windows
from crosspipe.model.result import ModelLimits
from crosspipe.model.target import Targets
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import fits, makespan_ns
from crosspipe.schedule.timed import timed

FEW, MANY = 24, 400
MOST_OPERATIONS = 60
MOST_STATES = 50_000
PROOF_S = 2.0
LIMITS = ModelLimits(time_s=20.0)

SEEDS = [seed if seed < FEW else pytest.param(seed, marks=pytest.mark.slow) for seed in range(MANY)]


def _tables(problem: Problem) -> Tables | None:
    lattice = lattice_of(problem, MOST_STATES)
    return None if lattice is None else Tables(lattice)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_optimum_is_met_and_one_less_is_not(seed: int) -> None:
    given = small(seed, MOST_OPERATIONS)[1]
    proof = proved(given, Objective.MAKESPAN, PROOF_S)
    if not isinstance(proof, Proof):
        assert proof in (None, "unknown")
        return
    problem, best_ns = proof.problem, proof.value_ns
    schedule = timed(problem, proof.orders, Objective.MAKESPAN)
    targets, tables = Targets(problem, schedule), _tables(problem)
    exact = not problem.windowed
    tick_ns = 1 if tables is None else tables.lattice.tick_ns
    for target_ns in (best_ns, best_ns - (tick_ns if exact else 1)):
        windows = None
        if tables is not None:
            windows = start_windows(problem, tables, target_ns // tick_ns)
            if windows is None:
                assert target_ns < best_ns
                continue
        decision = targets.decide(target_ns, windows, LIMITS)
        if target_ns == best_ns:
            assert decision.outcome == "met"
        elif exact:
            assert decision.outcome == "refuted"
        if decision.orders is not None and exact:
            found = timed(problem, decision.orders, Objective.MAKESPAN)
            assert fits(problem, found)
            assert makespan_ns(found) == best_ns
