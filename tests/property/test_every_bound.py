"""Every bound by itself on problems of every feature: never above the proved optimum, and each of them met by some."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests.property.proving import EVERY_FEATURE, Proof, features, proved, small
from tests.unit.bounds.specs import pipeline, split
from tests.unit.lattice.standing import least_standing

from crosspipe.bounds.best import all_bounds
from crosspipe.bounds.obstacles import obstacles
from crosspipe.lattice.dive import Diver, Rule
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.machines import lattice_of
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.lattice.machines import Lattice
    from crosspipe.problem.problem import Problem

FIRST, FEW, MANY = 35, 40, 400
MOST_OPERATIONS = 36
PROOF_S = 1
"""Most are proved in a few hundredths of a second; the others are left out, and counted."""

MOST_STATES = 20_000
MOST_NODES = 300
MOST_TICKS = 10**4

SEEDS = [
    seed if seed < FIRST + FEW else pytest.param(seed, marks=pytest.mark.slow) for seed in range(FIRST, FIRST + MANY)
]

OF_ONE_DEVICE = {"device load", "start-up", "last forward", "round trip"}
KINDS = {(name, objective) for name in OF_ONE_DEVICE for objective in Objective} | {
    *((name, Objective.MAKESPAN) for name in ("critical path", "lane load", "energy", "cases", "count states")),
    *((name, Objective.SPAN) for name in ("span load", "energy", "cases")),
}
"""Met by some of these; what a case split adds takes problems made for it."""


@cache
def _optimum(seed: int, objective: Objective) -> Proof | str | None:
    return proved(small(seed, MOST_OPERATIONS)[1], objective, PROOF_S)


@cache
def _bounds(seed: int, objective: Objective) -> tuple[tuple[str, int], ...]:
    """Kind and value of every bound."""
    problem = small(seed, MOST_OPERATIONS)[1]
    found = [("cases" if "cases" in b.data else b.name, b.value_ns) for b in all_bounds(problem, objective)]
    optimum = _optimum(seed, objective)
    if objective is Objective.MAKESPAN and isinstance(optimum, Proof):
        found += _by_states(problem, optimum.value_ns)
    return tuple(found)


def _by_states(problem: Problem, optimum_ns: int) -> list[tuple[str, int]]:
    """The bound by count states, and that by a case split of the target it leaves."""
    lattice = lattice_of(problem, MOST_STATES)
    return [] if lattice is None else _states_and_split(lattice, optimum_ns)


def _states_and_split(lattice: Lattice, optimum_ns: int) -> list[tuple[str, int]]:
    tables = Tables(lattice)
    # The optimum only ends the search: a target above it stands unless count states are wrong.
    target = least_standing(tables, 0, 2 * (optimum_ns // lattice.tick_ns) + 2)
    found = [("count states", target * lattice.tick_ns)]
    if Diver(tables).dive(target, Rule(0, 0), 0, 10**9, MOST_NODES).outcome == "refuted":
        found.append(("case split", (target + 1) * lattice.tick_ns))
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("objective", list(Objective))
def test_no_bound_is_above_the_proved_optimum(seed: int, objective: Objective) -> None:
    optimum = _optimum(seed, objective)
    if optimum is None:
        # No schedule at all: any bound would do.
        return
    found = _bounds(seed, objective)
    assert found
    if isinstance(optimum, Proof):
        assert [bound for bound in found if bound[1] > optimum.value_ns] == []
        assert obstacles(small(seed, MOST_OPERATIONS)[1]) == ()


def _folded(seed: int) -> Problem:
    """Two or three devices with stages alike, several on each, and messages as long as the work."""
    rng = random.Random(seed)  # noqa: S311  # which problems are tried, not a secret
    places = rng.choice([[0, 1, 1, 0], [0, 1, 0, 1], [0, 1, 2, 2, 1, 0], [0, 1, 2], [0, 1, 2, 0, 1, 2]])
    forward, backward, weight = rng.randint(1, 4), rng.randint(1, 4), rng.randint(0, 4)
    memory = {"activation_mb": 2, "retained_mb": rng.randint(0, 2)}
    messages = {"boundary_mb": rng.randint(0, 6), "gradient_mb": rng.randint(0, 6)}
    devices, microbatches = max(places) + 1, rng.randint(3, 5)
    links = [
        {"between": [f"d{a}", f"d{b}"], "one_way_latency_ms": rng.randint(0, 5), "bandwidth_gbps": 8}
        for a in range(devices)
        for b in range(a + 1, devices)
    ]
    stages = [split(forward, backward, weight, **memory, **messages)] * len(places)
    return pipeline(stages, microbatches, places=places, memory_mb=rng.choice([None, 4, 6, 8]), links=links)


@pytest.mark.parametrize(
    ("seed", "met"),
    [
        (55, True),
        (78, True),
        *(pytest.param(*row, marks=pytest.mark.slow) for row in ((2, False), (19, False), (216, True))),
    ],
)
def test_a_case_split_adds_to_count_states_up_to_the_optimum(seed: int, met: bool) -> None:
    """Seeds at which a dive of few nodes refutes the target that count states leave."""
    problem = _folded(seed)
    lattice = lattice_of(problem, MOST_STATES)
    assert lattice is not None
    found = dict(_states_and_split(lattice, lattice.tick_ns * MOST_TICKS))
    optimum = proved(problem, Objective.MAKESPAN, 20)
    assert isinstance(optimum, Proof)
    assert found["count states"] < found["case split"] <= optimum.value_ns
    assert (found["case split"] == optimum.value_ns) == met


def _assert_covered(seeds: range) -> None:
    """Every feature occurs, most optima are proved, and every kind of bound equals the optimum somewhere."""
    seen: set[str] = set()
    met: Counter[tuple[str, Objective]] = Counter()
    settled = 0
    for seed in seeds:
        spec, problem = small(seed, MOST_OPERATIONS)
        for objective in Objective:
            optimum = _optimum(seed, objective)
            settled += optimum != "unknown"
            if isinstance(optimum, Proof):
                seen |= features(spec, problem)
                met.update({(kind, objective) for kind, value in _bounds(seed, objective) if value == optimum.value_ns})
    assert seen == EVERY_FEATURE
    assert settled >= 1.5 * len(seeds)
    assert set(met) >= KINDS, met


def test_every_kind_of_bound_is_met() -> None:
    _assert_covered(range(FIRST, FIRST + FEW))


@pytest.mark.slow
def test_every_kind_of_bound_is_met_by_many() -> None:
    _assert_covered(range(FIRST, FIRST + MANY))
