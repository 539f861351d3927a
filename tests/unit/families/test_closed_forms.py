"""Makespans known in closed form."""

from __future__ import annotations

from itertools import product

import pytest
from tests.unit.families.instances import Message, uniform

from crosspipe.families.registry import FAMILIES, FamilyResult
from crosspipe.problem.problem import Objective, Problem

BY_NAME = {family.name: family for family in FAMILIES}


def makespan(name: str, problem: Problem) -> int | None:
    result: FamilyResult = BY_NAME[name].put_to(problem, Objective.MAKESPAN)
    assert result.value_ns == result.makespan_ns, result.reason
    return result.makespan_ns


@pytest.mark.parametrize(("p", "rounds"), list(product([2, 4, 8, 16], [1, 2, 3])))
def test_1f1b_with_small_latency(p: int, rounds: int) -> None:
    m, latency = p * rounds, 3
    problem = uniform(p, m, forward=200, backward_input=210, backward_weight=150, latency=latency)
    assert makespan("1F1B", problem) == (m + p - 1) * 560 + latency * (2 * (p - 1) * m // p + 2 * (p - 2))


@pytest.mark.parametrize(
    ("name", "m", "latency", "expected"),
    [
        *(("1F1B", 8, latency, value) for latency, value in enumerate((33, 41, 49))),
        *(("1F1B", 16, latency, value) for latency, value in enumerate((57, 73, 89))),
        *(("1F1B", 32, latency, value) for latency, value in enumerate((105, 137, 169))),
        *(("ZB-H1", 8, latency, value) for latency, value in enumerate((27, 33, 41))),
        *(("ZB-H1", 16, latency, value) for latency, value in enumerate((51, 61, 77))),
        *(("ZB-H1", 32, latency, value) for latency, value in enumerate((99, 117, 149))),
    ],
)
def test_slow_middle_link_costs_a_stride_per_microbatch(name: str, m: int, latency: int, expected: int) -> None:
    problem = uniform(4, m, slow={1: Message(latency)})
    assert makespan(name, problem) == expected


@pytest.mark.parametrize(("p", "m"), list(product([1, 2, 5], [1, 3, 8])))
def test_gpipe_without_latency(p: int, m: int) -> None:
    problem = uniform(p, m, forward=2, backward_input=3, backward_weight=1)
    assert makespan("GPipe", problem) == (m + p - 1) * (2 + 4)


@pytest.mark.parametrize(("p", "v", "rounds"), list(product([2, 4], [2, 3], [1, 3])))
def test_interleaved_fills_and_drains_by_chunks(p: int, v: int, rounds: int) -> None:
    m = p * rounds
    problem = uniform(p, m, chunks=v, forward=2, backward_input=2, backward_weight=2)
    assert makespan("interleaved 1F1B", problem) == (m * v + p - 1) * 6


@pytest.mark.parametrize(("p", "m"), list(product([2, 4, 8], [8, 16])))
def test_zero_bubble_h1_with_equal_thirds(p: int, m: int) -> None:
    assert makespan("ZB-H1", uniform(p, m)) == 3 * m + (p - 1)


def test_split_1f1b_sends_gradients_earlier() -> None:
    p, m = 4, 8
    problem = uniform(p, m, forward=2, backward_input=2, backward_weight=1)
    combined, split = makespan("1F1B", problem), makespan("1F1B split", problem)
    assert combined == (m + p - 1) * 5
    assert split == (m + p - 1) * 5 - (p - 1)
