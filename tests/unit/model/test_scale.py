"""Ticks: exact where they can be, and always a valid bound."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.model.draft import Draft, pipeline, ticks_of

from crosspipe.model.scale import LARGEST_HORIZON, Scale, choose_scale, common_divisor
from crosspipe.model.ticks import LARGEST_ENERGY
from crosspipe.problem.links import Window
from crosspipe.problem.operations import NO_DEADLINE, Kind
from crosspipe.problem.problem import Objective


def test_everything_that_can_decide_a_start_counts_in_the_common_divisor() -> None:
    draft = Draft([(0,), (1,)], [(Window(120, 240, 0, 480),)])
    draft.after(draft.op(Kind.F, 0, 0, 60, 0), draft.op(Kind.F, 1, 0, 180, 1), 300)
    assert common_divisor(draft.problem()) == 60
    draft.windows_of = [(Window(120, 250, 0, 480),)]
    assert common_divisor(draft.problem()) == 10
    draft.due = {1: 605}
    assert common_divisor(draft.problem()) == 5


def test_slower_windows_do_not_count_as_the_model_leaves_them_out() -> None:
    draft = Draft([(0,)], [(Window(7, 11, 3),)])
    draft.op(Kind.F, 0, 0, 60, 0)
    assert common_divisor(draft.problem()) == 60


@pytest.mark.parametrize("objective", list(Objective))
def test_where_a_lane_is_slower_at_times_no_bound_is_rounded_up_to_whole_ticks(objective: Objective) -> None:
    """With all times in whole ms, one at half the rate for a while ends at any ns: after 27.875 ms, say."""
    slower = (Window(7, 11, 5),)
    draft, _ = pipeline([(0,), (1,)], 1, (2_000_000,) * 3, 1_000_000, transfer=1_000_000, windows=slower)
    scale = choose_scale(draft.problem(), 48_000_000, objective)
    assert not scale.exact
    assert scale.bound_ns(scale.ticks(27_875_000), objective) <= 27_875_000


def test_nothing_but_zeros_has_the_divisor_one() -> None:
    draft = Draft([(0,)])
    draft.op(Kind.F, 0, 0, 0, 0)
    assert common_divisor(draft.problem()) == 1


def test_the_makespan_is_scaled_by_the_common_divisor() -> None:
    draft, _ = pipeline([(0,), (1,)], 2, times=(6_000_000, 4_000_000, 4_000_000))
    assert choose_scale(draft.problem(), 48_000_000, Objective.MAKESPAN) == Scale(2_000_000, 1, exact=True)


def test_no_operation_lasts_a_single_tick() -> None:
    draft, _ = pipeline([(0,), (1,)], 2, times=(2_000_000, 2_000_000, 2_000_000))
    assert choose_scale(draft.problem(), 48_000_000, Objective.MAKESPAN) == Scale(2_000_000, 2, exact=True)


def test_the_span_is_scaled_to_fractions_that_cycles_through_devices_may_need() -> None:
    draft, _ = pipeline([(0,), (1,), (2,), (3,)], 2, times=(6_000_000, 4_000_000, 2_000_000))
    assert choose_scale(draft.problem(), 96_000_000, Objective.SPAN) == Scale(2_000_000, 12, exact=True)


def test_times_without_a_common_divisor_are_coarsened_only_above_the_largest_horizon() -> None:
    draft, _ = pipeline([(0,)], 1, times=(7, 11, 13))
    assert choose_scale(draft.problem(), LARGEST_HORIZON, Objective.MAKESPAN) == Scale(1, 1, exact=True)
    coarse = choose_scale(draft.problem(), 10 * LARGEST_HORIZON, Objective.MAKESPAN)
    assert coarse == Scale(10, 1, exact=False)
    assert coarse.ticks(10 * LARGEST_HORIZON) <= LARGEST_HORIZON


@pytest.mark.parametrize(
    ("scale", "objective", "ticks", "bound_ns"),
    [
        (Scale(10, 1, exact=False), Objective.MAKESPAN, 7, 70),
        (Scale(10, 1, exact=False), Objective.SPAN, 7, 61),
        (Scale(10, 1, exact=False), Objective.SPAN, 0, 0),
        (Scale(10, 1, exact=True), Objective.MAKESPAN, 7, 70),
        (Scale(10, 2, exact=True), Objective.MAKESPAN, 7, 40),
        (Scale(10, 4, exact=True), Objective.SPAN, 7, 18),
        (Scale(1, 1, exact=True), Objective.SPAN, 7, 7),
    ],
)
def test_bounds_come_back_in_nanoseconds(scale: Scale, objective: Objective, ticks: int, bound_ns: int) -> None:
    assert scale.bound_ns(ticks, objective) == bound_ns


def test_coarse_windows_deadlines_and_lags_only_shrink() -> None:
    draft = Draft([(0,), (1,)], [(Window(15, 38, 0),)])
    sent, arrived = draft.op(Kind.ACTIVATION, 0, 0, 19, draft.lane()), draft.op(Kind.F, 1, 0, 27, 1)
    draft.after(sent, arrived, 9)
    draft.due = {arrived: 99}
    ticks = ticks_of(draft, largest=10)
    assert ticks.scale == Scale(10, 1, exact=False)
    assert ticks.duration.tolist() == [1, 2]
    assert ticks.lag.tolist() == [0]
    assert ticks.due is not None
    assert ticks.due.tolist() == [NO_DEADLINE, 9]
    assert ticks.closed == (((1, 3),),)


def test_memory_is_divided_by_its_common_divisor() -> None:
    draft, _ = pipeline([(0,)], 3, capacity=7_000_000_000, amounts=(3_000_000_000, 1_000_000_000))
    ticks = ticks_of(draft)
    assert sorted(set(ticks.amount.tolist())) == [1, 2]
    assert ticks.room == (7,)


def test_memory_that_could_overflow_is_rounded_down_and_still_fits() -> None:
    capacity = 2**62 + 1
    draft, _ = pipeline([(0,)], 3, times=(10**6 + 1, 10**6, 10**6), capacity=capacity, amounts=(2**61 - 1, 2**60 - 1))
    ticks = ticks_of(draft)
    (room,) = ticks.room
    assert room is not None
    assert int(ticks.amount.sum()) * ticks.horizon <= LARGEST_ENERGY
    # Two microbatches fit exactly, and so they do in ticks.
    assert 2 * int(np.unique(ticks.amount).sum()) <= room
