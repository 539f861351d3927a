"""The model finds what trying every order finds: its value, or that there is no schedule."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from tests.golden.compiled import compile_all
from tests.property.brute_force import BruteForce
from tests.property.tiny_specs import (
    tiny_spec,
    with_replicas,
    with_unlike_microbatches,
    without_lanes,
    without_memory_limit,
)

from crosspipe.model.solve import ModelLimits, improve
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

LIMITS = ModelLimits(time_s=60, workers=2)

EVERY_ORDER = range(24)
UNLIKE = range(100, 112)
CHUNKS = range(200, 208)
INDEX_ORDER = range(300, 316)
SPAN = range(400, 412)
REPLICAS = range(500, 508)


def _spec(seed: int) -> dict[str, Any]:
    if seed in EVERY_ORDER:
        return tiny_spec(seed, devices=2, most_microbatches=2)
    if seed in UNLIKE:
        return with_unlike_microbatches(tiny_spec(seed, devices=2, most_microbatches=2), seed)
    if seed in CHUNKS:
        return tiny_spec(seed, devices=2, most_microbatches=2, chunks=True)
    if seed in REPLICAS:
        return with_replicas(tiny_spec(seed, devices=2, most_microbatches=1))
    if seed in INDEX_ORDER:
        return tiny_spec(seed, devices=2 + seed % 2, most_microbatches=3)
    return tiny_spec(seed, devices=2, most_microbatches=2, windows=False)


def _problem(spec: dict[str, Any]) -> Problem:
    (problem,) = compile_all(spec)
    return problem


@cache
def _every_order(seed: int) -> int | None:
    in_index_order = seed in INDEX_ORDER or seed in CHUNKS
    return BruteForce(_problem(_spec(seed)), in_index_order, span=seed in SPAN).solve()


@pytest.mark.parametrize("seed", [*EVERY_ORDER, *UNLIKE, *CHUNKS, *INDEX_ORDER, *SPAN, *REPLICAS])
def test_the_model_finds_the_same(seed: int) -> None:
    objective = Objective.SPAN if seed in SPAN else Objective.MAKESPAN
    problem, wanted = _problem(_spec(seed)), _every_order(seed)
    result = improve(problem, objective, None, 0, LIMITS)
    if wanted is None:
        assert result.status == "infeasible"
        return
    assert (result.status, result.bound_ns) == ("optimal", wanted)
    assert result.orders is not None
    schedule = timed(problem, result.orders, objective)
    assert fits(problem, schedule)
    assert value_ns(problem, schedule, objective) == wanted


def test_memory_or_a_lane_binds_in_most_of_them() -> None:
    seeds = [*EVERY_ORDER, *UNLIKE, *REPLICAS]
    binding = sum(_every_order(seed) != _without(seed) for seed in seeds)
    assert binding >= len(seeds) / 2


def _without(seed: int) -> int | None:
    """Give the best value if neither memory nor lanes limited anything."""
    return BruteForce(_problem(without_lanes(without_memory_limit(_spec(seed))))).solve()
