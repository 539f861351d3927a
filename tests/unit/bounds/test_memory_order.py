"""Which operations wait for each other because a pool is full, checked against every order of one device."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.bounds.specs import pipeline, split

from crosspipe.bounds.memory_order import memory_order
from crosspipe.bounds.stage_memory import stage_memories
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

Waits = set[tuple[str, str]]


def waits(problem: Problem) -> Waits:
    found = memory_order(problem, stage_memories(problem))
    return {
        (short(problem, before), short(problem, after))
        for before, after in zip(found.before.tolist(), found.after.tolist(), strict=True)
    }


def short(problem: Problem, operation: int) -> str:
    ops = problem.operations
    return f"{Kind(ops.kind[operation]).name}{ops.stage[operation]}.{ops.microbatch[operation]}"


def test_forwards_wait_for_the_backward_k_before() -> None:
    problem = pipeline([split(1, 1, 1, activation_mb=2, retained_mb=0)], 4, memory_mb=5)
    assert waits(problem) == {("B0.0", "F0.2"), ("B0.1", "F0.3")}


def test_what_is_kept_until_the_weight_part_is_waited_for_too() -> None:
    """a = 2, w = 1, room 4: beside the new F's 2 there is room for two w's, so F(3) waits for W(0)."""
    problem = pipeline([split(1, 1, 1, activation_mb=2, retained_mb=1)], 4, memory_mb=4)
    implied = {("W0.0", "B0.3")}
    assert waits(problem) == {("B0.0", "F0.2"), ("B0.1", "F0.3"), ("W0.0", "F0.3")} | implied


def test_a_backward_that_takes_memory_waits_for_weight_parts() -> None:
    """a = 1, B takes 2 more until W, room 5: B(1) finds 3 of W(0) and its own 1, and waits for W(0)."""
    problem = pipeline([split(1, 1, 1, activation_mb=1, backward_extra_mb=2)], 2, memory_mb=5)
    assert waits(problem) == {("W0.0", "B0.1")}


def test_a_backward_of_no_length_takes_what_it_gives_back() -> None:
    problem = pipeline([split(1, 0, 1, activation_mb=1, retained_mb=0, backward_extra_mb=2)], 2, memory_mb=4)
    assert waits(problem) == set()


def test_a_later_chunk_counts_the_earlier_ones() -> None:
    """Wave on one device: at the second stage a microbatch holds 2, so K = 1 in a room of 3; at the first K = 3.

    Three first forwards would leave no room for any second: the third waits for the second stage's backward.
    """
    problem = pipeline([split(1, 1, 0, activation_mb=1, retained_mb=0)] * 2, 4, places=[0, 0], memory_mb=3)
    found = waits(problem)
    assert {("B1.0", "F1.1"), ("B0.0", "F0.3"), ("B1.0", "F0.2")} <= found
    assert ("B1.0", "F0.1") not in found


def test_in_flight_caps_count_microbatches_until_the_last_operation() -> None:
    problem = pipeline([split(1, 1, 1)] * 2, 3, limits={"in_flight": 2})
    found = waits(problem)
    assert {(b, a) for b, a in found if b[0] == "W" and a[0] == "F"} == {("W0.0", "F0.2"), ("W1.0", "F1.2")}


@pytest.mark.parametrize("order", ["free", "fixed"])
def test_unlike_microbatches_only_in_a_fixed_order(order: str) -> None:
    stage = split(1, 1, 0, activation_mb=2, retained_mb=0)
    problem = pipeline([stage], {"multipliers": [1, 3, 1], "order": order}, memory_mb=7)
    assert waits(problem) == (set() if order == "free" else {("B0.0", "F0.1"), ("B0.1", "F0.2")})


def test_a_microbatch_that_never_fits_forces_no_order() -> None:
    assert waits(pipeline([split(1, 1, 1, activation_mb=4)], 2, memory_mb=3)) == set()


@st.composite
def devices(draw: st.DrawFn) -> Problem:
    chunks = draw(st.integers(1, 2))
    stages: list[dict[str, Any]] = []
    for _ in range(chunks):
        held = draw(st.integers(0, 3))
        extra = draw(st.integers(0, 2))
        stages.append(
            split(1, 1, 1, activation_mb=held, retained_mb=draw(st.integers(0, held)), backward_extra_mb=extra)
        )
    return pipeline(stages, 3 if chunks == 1 else 2, places=[0] * chunks, memory_mb=draw(st.integers(2, 8)))


@settings(max_examples=60, deadline=None)
@given(devices())
def test_every_order_that_fits_obeys(problem: Problem) -> None:
    """Enumerate all orders of the device that keep index order per class and never exceed the room."""
    pairs = memory_order(problem, stage_memories(problem))
    for order in orders_that_fit(problem):
        place = {operation: k for k, operation in enumerate(order)}
        assert all(place[b] < place[a] for b, a in zip(pairs.before.tolist(), pairs.after.tolist(), strict=True))


def orders_that_fit(problem: Problem) -> list[tuple[int, ...]]:
    """All orders of one device (its precedences, index order, memory), grown one operation at a time."""
    given_pairs = list(zip(problem.precedences.before.tolist(), problem.precedences.after.tolist(), strict=True))
    given_pairs += [(a, b) for row in problem.chains for a, b in zip(row.tolist(), row.tolist()[1:], strict=False)]
    before: dict[int, set[int]] = {op: {b for b, a in given_pairs if a == op} for op in problem}
    rows = list(zip(*(column.tolist() for column in held(problem)), strict=True))
    room = problem.pools[0].capacity
    assert room is not None
    found: list[tuple[int, ...]] = []

    def grow(order: tuple[int, ...]) -> None:
        if len(order) == len(problem.operations):
            found.append(order)
            return
        done = set(order)
        for op in problem:
            if op in done or not before[op] <= done:
                continue
            level = sum(amount for taken, given, amount in rows if taken in done | {op} and given not in done)
            if level <= room:
                grow((*order, op))

    grow(())
    return found


def held(problem: Problem) -> tuple[Any, Any, Any]:
    return problem.holdings.taken_by, problem.holdings.given_by, problem.holdings.amount


def test_the_enumeration_is_complete() -> None:
    """Without limits a single stage of two microbatches has as many orders as its partial order allows."""
    problem = pipeline([split(1, 1, 1)], 2, memory_mb=1)
    valid = [
        order
        for order in permutations(range(6))
        if all(order.index(b) < order.index(a) for b, a in [(0, 2), (2, 4), (1, 3), (3, 5), (0, 1), (2, 3), (4, 5)])
    ]
    assert sorted(orders_that_fit(problem)) == sorted(valid)
