"""Random small steps with gradients: brute force agrees, pieces and memory never hurt, sharing out costs nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.property.brute_force import BruteForce
from tests.solving import assert_sound, solve_here

from crosspipe.answer.units import to_ns
from crosspipe.bounds.best import all_bounds
from crosspipe.costs.expand import expand
from crosspipe.problem.compile import compile_spec
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer
    from crosspipe.problem.problem import Problem

Spec = dict[str, Any]
FEW, MANY = 6, 60
SEEDS = [seed if seed < FEW else pytest.param(seed, marks=pytest.mark.slow) for seed in range(MANY)]

MOST_BRUTE_OPERATIONS = 17


def step(seed: int, stages: int, microbatches: int) -> Spec:
    """Stages of whole ms in two sites or one; half of them with memory for little more than one microbatch."""
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    across = rng.choice(["pipeline", "data", "both"])
    work = [
        {
            "forward_ms": rng.randint(1, 3),
            "backward_input_ms": rng.randint(1, 3),
            "backward_weight_ms": rng.randint(1, 3),
            "activation_mb": 10,
            "boundary_mb": rng.choice([0, 50, 100]),
            "weights_mb": rng.choice([0, 200, 400]),
        }
        for _ in range(stages)
    ]
    sites: dict[str, Any] = {}
    for name in ("a", "b"):
        sites[name] = {"devices": stages // 2 if stages > 1 and across != "data" else stages}
        sites[name] |= {"hop_bandwidth_gbps": 800, "hop_latency_ms": rng.choice([0, 1])}
        if seed % 2:
            sites[name]["memory_gb"] = 0.001 * (rng.choice([15, 20, 25]) + 400)
    if stages == 1 and across == "both":
        sites["b"]["devices"], across = 1, "data"
    return {
        "model": {"stages": work},
        "training": {"microbatches": microbatches},
        "parallel": {"data": rng.choice([2, 4]), "across_sites": across},
        "sites": sites if stages > 1 or across == "data" else {"a": sites["a"]},
        "links": [{"between": ["a", "b"], "bandwidth_gbps": 800, "one_way_latency_ms": rng.choice([0, 1, 2])}]
        if stages > 1 or across == "data"
        else [],
        "gradients": {"sharding": rng.choice(["none", "zero1", "full"]), "pieces": 1},
    }


def compiled(spec: Spec) -> Problem:
    (problem,) = compile_spec(expand(parse_spec(spec)).spec, "test")
    return problem


def optimum(monkeypatch: pytest.MonkeyPatch, spec: Spec) -> Answer:
    answer = solve_here(monkeypatch, spec, time_limit_s=30)
    assert answer.status in ("optimal", "infeasible")
    assert_sound(spec, answer)
    return answer


def with_gradients(spec: Spec, **fields: Any) -> Spec:
    return spec | {"gradients": spec["gradients"] | fields}


@pytest.mark.parametrize("seed", SEEDS)
def test_brute_force_finds_the_same_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for stages, microbatches in ((2, 2), (1, 3), (2, 1), (1, 2), (1, 1)):
        spec = step(seed, stages, microbatches)
        problem = compiled(spec)
        if len(problem.operations) <= MOST_BRUTE_OPERATIONS:
            break
    best = BruteForce(problem, in_index_order=True).solve()
    answer = optimum(monkeypatch, spec)
    found = answer.objective.value_ms
    assert best == (None if found is None else to_ns(found))
    if best is not None:
        assert all(bound.value_ns <= best for bound in all_bounds(problem))


@pytest.mark.parametrize("seed", SEEDS)
def test_pieces_never_lengthen_the_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = step(seed, 2, 2)
    whole, cut = (optimum(monkeypatch, with_gradients(spec, pieces=pieces)).objective.value_ms for pieces in (1, 4))
    assert (whole is None) == (cut is None)
    if whole is not None and cut is not None:
        assert cut <= whole


@pytest.mark.parametrize("seed", SEEDS)
def test_sharing_the_optimizer_out_costs_nothing_on_lanes_of_its_own(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stages of one size in one site: the gathers delay all alike by the phase that the reduces then save."""
    spec = step(seed, 2, 2)
    for stage in spec["model"]["stages"]:
        stage |= {"weights_mb": 200}
    spec = spec | {"sites": {"a": {"devices": 2, "hop_bandwidth_gbps": 800, "hop_latency_ms": 1}}, "links": []}
    spec["parallel"] = spec["parallel"] | {"across_sites": "pipeline"}
    values = {
        optimum(monkeypatch, with_gradients(spec, sharding=sharding)).objective.value_ms
        for sharding in ("none", "zero1", "full")
    }
    assert len(values) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_more_memory_never_slows_full_sharding(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = with_gradients(step(seed, 2, 3), sharding="full")
    values = []
    for gb in (0.405, 0.411, 0.421, None):
        sites = {name: site | {"memory_gb": gb} for name, site in spec["sites"].items()}
        found = optimum(monkeypatch, spec | {"sites": sites}).objective.value_ms
        values.append(float("inf") if found is None else found)
    assert values == sorted(values, reverse=True)
