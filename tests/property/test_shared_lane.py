"""Loops over two sites joined by one link: the wrap-around and the middle boundary take turns on its lanes.

On each tiny instance the proved optimum of a solve is what trying every order finds. In every second one memory is
proved to bind: with all there could be, the optimum is smaller.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from tests.golden.compiled import compile_all
from tests.property.brute_force import BruteForce
from tests.property.proving import Proof, proved
from tests.solving import assert_sound, solve_here

from crosspipe.answer.units import to_ms
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

Spec = dict[str, Any]

FEW, MANY = 10, 50
PLACES = [place if place < FEW else pytest.param(place, marks=pytest.mark.slow) for place in range(MANY)]
STRIDE = 1009
"""From one draw for a place to the next."""

LOOPS = (
    ["a/0", "b/0", "a/0"],
    ["a/0", "b/0", "a/0", "b/0"],
    ["a/0", "a/1", "b/0", "a/0"],
    ["a/0", "b/0", "b/1", "a/0"],
)


def looped_spec(seed: int) -> Spec:
    """A spec of whole ms and MB whose stages go from site a to b and around to a again, over one link."""
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    places = rng.choice(LOOPS)
    stages = [_stage(rng) for _ in places]
    link = {"between": ["a", "b"], "one_way_latency_ms": rng.randint(0, 3), "bandwidth_gbps": 8}
    devices = sorted(set(places))
    return {
        "model": {"stages": stages},
        "training": {"microbatches": 2},
        "parallel": {"tensor": 1, "pipeline": len(devices), "data": 1},
        "sites": {site: {"pools": _pools(rng, stages, places, site)} for site in "ab"},
        "links": [link | {"duplex": rng.choice(["full", "full", "half"])}],
        "placement": {"map": places},
    }


def _stage(rng: random.Random) -> Spec:
    stage: Spec = {"forward_ms": rng.randint(1, 3), "activation_mb": rng.randint(1, 3)}
    if rng.random() < 0.25:
        stage |= {"backward_input_ms": rng.randint(1, 3), "backward_weight_ms": rng.randint(1, 3)}
        stage["retained_mb"] = rng.randint(0, stage["activation_mb"])
    else:
        stage["backward_ms"] = rng.randint(1, 5)
    return stage | {"boundary_mb": rng.randint(1, 4), "gradient_mb": rng.randint(1, 4)}


def _pools(rng: random.Random, stages: list[Spec], places: list[str], site: str) -> list[Spec]:
    """One device each, with room for a microbatch or a little more."""
    pools = []
    for device in sorted({place for place in places if place.startswith(site)}):
        held = sum(stage["activation_mb"] for stage, place in zip(stages, places, strict=True) if place == device)
        pools.append({"devices": 1, "memory_gb": (held + rng.choice([0, 0, 1, 2, 9])) / 1000})
    return pools


@cache
def _drawn(place: int) -> tuple[Spec, Problem]:
    """Draw until there is a schedule; at even places, until memory is proved to bind."""
    seed = place
    while True:
        spec = looped_spec(seed)
        (problem,) = compile_all(spec)
        proof = proved(problem, Objective.MAKESPAN, 60)
        if isinstance(proof, Proof):
            freed = replace(problem, pools=tuple(replace(pool, capacity=None) for pool in problem.pools))
            spare = proved(freed, Objective.MAKESPAN, 60)
            if place % 2 or (isinstance(spare, Proof) and spare.value_ns < proof.value_ns):
                return spec, problem
        seed += STRIDE


@pytest.mark.parametrize("place", PLACES)
def test_the_proved_optimum_is_what_every_order_gives(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, problem = _drawn(place)
    wanted = BruteForce(problem).solve()
    assert wanted is not None
    answer = solve_here(monkeypatch, spec, time_limit_s=60)
    assert (answer.status, answer.makespan_ms) == ("optimal", to_ms(wanted))
    assert_sound(spec, answer)


@pytest.mark.parametrize("place", PLACES)
def test_the_wrap_around_and_the_middle_share_their_lanes(place: int) -> None:
    _, problem = _drawn(place)
    crossing = [hop for hop in problem.hops if problem.devices[hop.sender].site != problem.devices[hop.receiver].site]
    assert {hop.link for hop in crossing} == {"a-b"}
    for lane in {lane for hop in crossing for lane in hop.lanes}:
        boundaries = {hop.boundary for hop in crossing if lane in hop.lanes}
        assert len(boundaries) > 1
    kinds = problem.operations.kind
    for lane in range(len(problem.lanes)):
        assert {Kind.ACTIVATION, Kind.GRADIENT} <= set(kinds[problem.by_resource[len(problem.devices) + lane]].tolist())


def test_some_are_half_duplex_and_some_are_not() -> None:
    assert {len(_drawn(place)[1].lanes) for place in range(FEW)} == {1, 2}
