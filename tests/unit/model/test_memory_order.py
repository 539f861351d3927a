"""Precedences that memory implies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.building import STAGE, problem
from tests.unit.model.draft import accepts, pipeline, ticks_of

from crosspipe.model.arcs import add_arcs
from crosspipe.model.memory_order import memory_arcs, order_suffices
from crosspipe.model.solve import ModelLimits, improve
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel
    from tests.unit.model.draft import Draft

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables

Named = dict[tuple[Kind, int, int], int]


def _add(model: CpModel, variables: Variables, ticks: Ticks) -> None:
    add_arcs(model, variables, memory_arcs(ticks))


def _pairs(draft: Draft, ops: Named) -> set[tuple[str, str]]:
    names = {number: f"{kind.name}{stage}({j})" for (kind, stage, j), number in ops.items()}
    arcs = memory_arcs(ticks_of(draft))
    return {(names[b], names[a]) for b, a in zip(arcs.before.tolist(), arcs.after.tolist(), strict=True)}


def test_the_forward_that_does_not_fit_is_cut_before_the_backward_ends() -> None:
    draft, _ = pipeline([(0,)], 2, capacity=3, amounts=(2, 0))
    assert not accepts(draft, _add, [0, 1, 2, 3, 4, 5])


def test_the_forward_that_waits_for_the_backward_is_kept() -> None:
    draft, _ = pipeline([(0,)], 2, capacity=3, amounts=(2, 0))
    assert accepts(draft, _add, [0, 2, 1, 3, 4, 5])


def test_one_stage_in_flight_and_weights() -> None:
    """Room 5, F takes 2, W gives back 1: two in flight; F(n) needs W(n-4), as floor((5 - 2) / 1) + 1 = 4."""
    draft, ops = pipeline([(0,)], 6, capacity=5, amounts=(2, 1))
    assert _pairs(draft, ops) == {
        *((f"B0({j})", f"F0({j + 2})") for j in range(4)),
        *((f"W0({j})", f"F0({j + 4})") for j in range(2)),
    }


def test_two_chunks_hold_more_and_more_on_the_way_up() -> None:
    """Room 4, each chunk 1, stages 0 and 3 on device 0: four between F0 and B0, two between F3 and B3."""
    draft, ops = pipeline([(0, 3), (1, 2)], 5, capacity=4, amounts=(1, 0))
    on_first = {pair for pair in _pairs(draft, ops) if pair[1][1] in "03"}
    assert ("B0(0)", "F0(4)") in on_first
    assert {("B3(0)", "F3(2)"), ("B3(1)", "F3(3)"), ("B3(2)", "F3(4)")} <= on_first


def test_a_dead_end_is_cut() -> None:
    """Room 4: with four microbatches between F0 and B0 nothing is left for F3, unless the first has passed B3."""
    draft, ops = pipeline([(0, 3), (1, 2)], 5, capacity=4, amounts=(1, 0))
    assert ("B3(0)", "F0(3)") in _pairs(draft, ops)


def test_weights_of_a_higher_chunk_count_what_the_lower_one_holds() -> None:
    """Room 7, chunks of 2 keeping 1: microbatch n holds 4 at F3(n), so three kept ones fit and W3(n-4) must be over."""
    draft, ops = pipeline([(0, 3), (1, 2)], 6, capacity=7, amounts=(2, 1))
    assert {pair for pair in _pairs(draft, ops) if pair[0][:2] == "W3"} == {("W3(0)", "F3(4)"), ("W3(1)", "F3(5)")}


def _b_takes_more(capacity: int) -> tuple[Draft, Named]:
    """F takes 2, B takes 3 more, W gives all back."""
    draft, ops = pipeline([(0,)], 4, capacity=capacity, amounts=(2, 2))
    for j in range(4):
        draft.hold(0, ops[Kind.B, 0, j], ops[Kind.W, 0, j], 3)
    return draft, ops


def test_what_b_takes_leaves_less_room_for_forwards_and_for_backwards() -> None:
    """Room 9: two forwards and a B need 7, three need 9, four 11; a B before the W of the one before needs 10."""
    draft, ops = _b_takes_more(9)
    pairs = _pairs(draft, ops)
    assert {pair for pair in pairs if pair[0][0] == "B"} == {("B0(0)", "F0(3)")}
    assert {pair for pair in pairs if pair[1][0] == "B"} == {(f"W0({j})", f"B0({j + 1})") for j in range(3)}


def test_a_backward_of_no_length_gives_back_as_it_takes() -> None:
    """Two F of 3 MB fit in 7; B gives back 1 and takes 2 at one moment, which makes 7 and never 8."""
    stage = STAGE | {"backward_input_ms": 0, "activation_mb": 3, "retained_mb": 2, "backward_extra_mb": 2}
    sites = {"a": {"devices": 1, "memory_gb": 0.007}, "b": {"devices": 1}}
    links = [{"between": ["a", "b"], "one_way_latency_ms": 20}]
    compiled = problem([stage] * 2, 2, sites=sites, links=links)
    found = improve(compiled, Objective.MAKESPAN, None, 0, ModelLimits(10))
    assert found.status == "optimal"
    # Both F by 2, there and back by 42 and 43, where the gradient meets a B of no time and one W of 1 ms.
    assert found.bound_ns == 44_000_000


def test_a_b_that_never_fits_is_a_circle() -> None:
    draft, ops = _b_takes_more(4)
    assert ("B0(0)", "F0(0)") in _pairs(draft, ops)


def test_unlike_amounts_in_a_required_order_are_added_up() -> None:
    """Room 5, amounts 1 3 2 4: 0..1 fit (4), 0..2 do not (6); 1..2 fit (5); 2..3 do not (6)."""
    draft, ops = pipeline([(0,)], 4, capacity=5, amounts=(1, 1))
    draft.multipliers, draft.fixed = ("1", "3", "2", "4"), True
    draft.holds = [
        (pool, taker, giver, amount) for (pool, taker, giver, _), amount in zip(draft.holds, (1, 3, 2, 4), strict=True)
    ]
    assert {pair for pair in _pairs(draft, ops) if pair[0][0] == "B"} == {("B0(0)", "F0(2)"), ("B0(2)", "F0(3)")}


@pytest.mark.parametrize("capacity", [4, None])
def test_nothing_follows_where_everything_fits(capacity: int | None) -> None:
    draft, ops = pipeline([(0,)], 2, capacity=capacity, amounts=(2, 1))
    assert not _pairs(draft, ops)


def test_one_stage_and_one_kind_of_giver_need_no_more_than_order() -> None:
    draft, _ = pipeline([(0,), (1,)], 4, capacity=3, amounts=(2, 2))
    assert [order_suffices(ticks_of(draft), pool) for pool in (0, 1)] == [True, True]


@pytest.mark.parametrize(
    ("stages_of", "amounts"), [([(0,)], (2, 1)), ([(0, 1)], (1, 1))], ids=["two givers", "two stages"]
)
def test_anything_else_needs_more(stages_of: list[tuple[int, ...]], amounts: tuple[int, int]) -> None:
    draft, _ = pipeline(stages_of, 4, capacity=5, amounts=amounts)
    assert not order_suffices(ticks_of(draft), 0)


def test_what_b_takes_needs_more_too() -> None:
    draft, _ = _b_takes_more(9)
    assert not order_suffices(ticks_of(draft), 0)


def test_a_free_order_needs_more_too() -> None:
    draft, _ = pipeline([(0,)], 4, capacity=3, amounts=(2, 2))
    draft.multipliers = ("1", "2", "1", "1")
    assert not order_suffices(ticks_of(draft), 0)


def test_nothing_follows_where_the_order_is_free() -> None:
    draft, ops = pipeline([(0,)], 2, capacity=3, amounts=(2, 1))
    draft.multipliers = ("1", "2")
    assert not _pairs(draft, ops)
