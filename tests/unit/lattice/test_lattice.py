from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.building import STAGE, problem
from tests.golden.cases import all_cases, expected
from tests.golden.compiled import problem_of
from tests.golden.mapping import unit_ns
from tests.unit.lattice.standing import least_standing

from crosspipe.lattice.dive import Diver, Rule
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.leaf import orders_of
from crosspipe.lattice.machines import lattice_of
from crosspipe.schedule.measure import fits, makespan_ns
from crosspipe.schedule.replay import replay

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

MOST = 200_000
NO_LIMIT = 10**6


def tables_of(compiled: Problem) -> Tables | None:
    lattice = lattice_of(compiled, MOST)
    return None if lattice is None else Tables(lattice)


def golden_makespans() -> list[str]:
    """Golden cases of proved makespan on which the lattice may say something."""
    return [
        case["id"]
        for case in all_cases()
        if case.get("kind", "schedule") == "schedule"
        and case["expect"]["status"] == "optimal"
        and case["objective"] == "makespan"
        and lattice_of(problem_of(case["id"]), MOST) is not None
    ]


CASES = golden_makespans()


def optimum_ns(case_id: str) -> int:
    case = next(case for case in all_cases() if case["id"] == case_id)
    return expected(case) * unit_ns(case)


@pytest.mark.parametrize("case_id", CASES)
def test_no_proved_optimum_is_refuted(case_id: str) -> None:
    tables = tables_of(problem_of(case_id))
    assert tables is not None
    assert tables.stands(optimum_ns(case_id) // tables.lattice.tick_ns) is not None


LOOSE = {
    "memory_cap-02",
    "per_stage_cap-03",
    "per_stage_cap-04",
    "b_raises_memory-02",
    "partial_release-11",
    "recompute-01",
}
"""Cases on which the windows of single machines cannot see the whole loss of a tight memory."""


def test_the_fixpoint_is_tight_on_most_golden_cases() -> None:
    loose = []
    for case_id in CASES:
        tables = tables_of(problem_of(case_id))
        assert tables is not None
        optimum = optimum_ns(case_id) // tables.lattice.tick_ns
        if least_standing(tables, 0, optimum) < optimum:
            loose.append(case_id)
    assert len(CASES) > 120
    assert set(loose) <= LOOSE


BINDING = [
    case_id
    for case_id in CASES
    if (compiled := problem_of(case_id)).extras or compiled.windowed or compiled.due_ns is not None
]
"""Cases with extra operations, windows or deadlines."""


@pytest.mark.parametrize("case_id", sorted({*BINDING, *CASES[::3]}))
def test_a_dive_at_the_optimum_finds_it_and_one_tick_below_is_refuted(case_id: str) -> None:
    compiled = problem_of(case_id)
    tables = tables_of(compiled)
    assert tables is not None
    diver, optimum = Diver(tables), optimum_ns(case_id) // tables.lattice.tick_ns
    found = diver.dive(optimum, Rule(1, 0), seed=0, most_failures=NO_LIMIT, most_nodes=20_000)
    assert found.outcome == "leaf"
    assert found.windows is not None
    schedule = replay(compiled, orders_of(compiled, tables, found.windows))
    assert makespan_ns(schedule) == optimum_ns(case_id)
    assert fits(compiled, schedule)
    below = diver.dive(optimum - 1, Rule(0, 0), seed=0, most_failures=NO_LIMIT, most_nodes=20_000)
    assert below.outcome in ("refuted", "given up")
    assert below.windows is None


@pytest.mark.parametrize("place", [(0, 1, 1, 0), (0, 1, 0, 1)])
@pytest.mark.parametrize("backward_ms", [0, 5])
def test_a_leaf_gives_memory_back_by_a_weight_gradient_of_no_length_in_time(
    place: tuple[int, ...], backward_ms: int
) -> None:
    stage = STAGE | {"forward_ms": 4, "backward_input_ms": backward_ms, "backward_weight_ms": 0, "activation_mb": 5}
    sites = {name: {"devices": 1, "memory_gb": 0.011} for name in ("a", "b")}
    links = [{"between": ["a", "b"], "one_way_latency_ms": 11, "bandwidth_gbps": 8}]
    placement = {"map": [f"{'ab'[device]}/0" for device in place]}
    compiled = problem([stage] * 4, 6, sites=sites, links=links, placement=placement)
    tables = tables_of(compiled)
    assert tables is not None
    diver = Diver(tables)
    for target in range(least_standing(tables, 0, 2000), 2000):
        found = diver.dive(target, Rule(1, 0), seed=0, most_failures=NO_LIMIT, most_nodes=5000)
        if found.windows is not None:
            break
    assert found.windows is not None
    schedule = replay(compiled, orders_of(compiled, tables, found.windows))
    assert fits(compiled, schedule)
    assert makespan_ns(schedule) <= target * tables.lattice.tick_ns


def test_states_are_the_counts_that_memory_allows() -> None:
    sites = {"a": {"devices": 1, "memory_gb": 0.002}}
    compiled = problem([STAGE], 3, sites=sites)
    lattice = lattice_of(compiled, MOST)
    assert lattice is not None
    (machine,) = lattice.machines
    found = {tuple(row) for row in machine.space.counts.tolist()}
    wanted = {
        (f, b, w)
        for f in range(4)
        for b in range(f + 1)
        for w in range(b + 1)
        if f - w <= 2  # two microbatches of 1 MB, given back at the end of W
    }
    assert found == wanted


def test_no_state_is_lost_where_a_device_has_many_classes_of_many_operations() -> None:
    stages, microbatches = 7, 31
    sites = {"a": {"devices": 1, "memory_gb": 0.007}}
    compiled = problem([STAGE] * stages, microbatches, sites=sites, placement={"traversal": "loop"})
    lattice = lattice_of(compiled, MOST)
    assert lattice is not None
    (machine,) = lattice.machines
    found = {tuple(row) for row in machine.space.counts.tolist()}
    assert len(found) == len(machine.space.counts)
    # Read as digits of one number these 15 counts would need 75 bits.
    assert found == _reachable(stages, microbatches, 7)


def _reachable(stages: int, microbatches: int, room: int) -> set[tuple[int, ...]]:
    """Counts of F by stage, B from the last stage down, and W of all: one unit is held from each F to some W."""
    start = (0,) * (2 * stages + 1)
    seen, front = {start}, [start]
    while front:
        state = front.pop()
        for place in range(2 * stages + 1):
            if place < 2 * stages:
                allowed = state[place] < (state[place - 1] if place else microbatches)
                allowed &= place >= stages or sum(state[:stages]) - state[-1] < room
            else:
                allowed = state[-1] < sum(state[stages:-1])
            after = (*state[:place], state[place] + 1, *state[place + 1 :])
            if allowed and after not in seen:
                seen.add(after)
                front.append(after)
    return seen


def test_it_does_not_apply_to_unlike_microbatches_or_replicas() -> None:
    assert lattice_of(problem([STAGE], {"multipliers": [1, 2], "order": "free"}), MOST) is None
    two = {"parallel": {"data": 2, "replica_messages": "separate"}}
    assert lattice_of(problem(2, 2, **two), MOST) is None
    assert lattice_of(problem(4, 8), 10) is None


@pytest.mark.parametrize("seed", range(25))
def test_leaves_of_random_problems_keep_their_target(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, m = int(rng.integers(2, 4)), int(rng.integers(2, 6))
    stages = [
        {
            "forward_ms": int(rng.integers(1, 6)),
            "backward_input_ms": int(rng.integers(1, 6)),
            "backward_weight_ms": int(rng.integers(1, 6)),
            "activation_mb": 2,
            "retained_mb": 1,
            "boundary_mb": int(rng.integers(0, 4)),
        }
        for _ in range(p)
    ]
    sites = {f"s{k}": {"devices": 1, "memory_gb": float(rng.integers(2, 7)) / 1000} for k in range(p)}
    links = [
        {
            "between": [f"s{k}", f"s{k + 1}"],
            "bandwidth_gbps": 8,
            "one_way_latency_ms": int(rng.integers(0, 7)),
            "duplex": "half" if rng.random() < 0.5 else "full",
        }
        for k in range(p - 1)
    ]
    compiled = problem(stages, m, sites=sites, links=links)
    tables = tables_of(compiled)
    assert tables is not None
    diver = Diver(tables)
    target = least_standing(tables, 0, 2000)
    rules = [Rule(pair, prefer, float(seed % 2)) for pair in (0, 1, 2) for prefer in (0, 1, 2)]
    while (found := diver.dive(target, rules[target % 9], seed, NO_LIMIT, 5000)).outcome != "leaf":
        target += 1
    assert found.windows is not None
    schedule = replay(compiled, orders_of(compiled, tables, found.windows))
    assert makespan_ns(schedule) <= target * tables.lattice.tick_ns
    assert fits(compiled, schedule)
