"""Swapped neighbours: activations held for less, no value larger, no peak higher."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.building import problem
from tests.golden.compiled import compile_all
from tests.property.random_specs import random_spec

from crosspipe.answer.judge import judge
from crosspipe.families.portfolio import attempts
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective
from crosspipe.schedule.in_flight import in_flight_ns
from crosspipe.schedule.joint import join_lanes
from crosspipe.schedule.measure import makespan_ns, peaks, span_ns, value_ns
from crosspipe.schedule.replay import replay, resolved
from crosspipe.schedule.timed import timed
from crosspipe.search.allowance import Allowance
from crosspipe.search.clock import Clock
from crosspipe.search.sooner import SWAP_S, give_back_sooner

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

MS = 10**6


def enough() -> Allowance:
    return Allowance(Clock(60), 60)


@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_lost(seed: int, objective: Objective) -> None:
    for compiled in compile_all(random_spec(seed)):
        passes = (attempt for attempt, _ in zip(attempts(compiled, objective), range(3), strict=False))
        for orders in [a.orders for a in passes if a.value_ns is not None and a.orders is not None]:
            whole = resolved(compiled, orders)
            before = timed(compiled, orders, objective)
            after = give_back_sooner(whole, before, objective, enough())
            assert value_ns(whole, after, objective) <= value_ns(whole, before, objective)
            assert in_flight_ns(compiled, after) <= in_flight_ns(compiled, before)
            held = zip(peaks(compiled, before), peaks(compiled, after), strict=True)
            assert all(was.amount >= now.amount for was, now in held)
            judge(compiled, after, makespan_ns(after), span_ns(whole, after))


def _late_weights() -> tuple[Problem, list[np.ndarray]]:
    """One device that runs both its W's at the end."""
    compiled = problem(1, 2)
    row = [compiled.number(Kind[text[0]], 0, int(text[1])) for text in ("F0", "B0", "F1", "B1", "W0", "W1")]
    return compiled, [np.array(row, dtype=np.int64)]


def test_a_weight_that_only_waits_goes_ahead() -> None:
    compiled, sequences = _late_weights()
    before = replay(compiled, join_lanes(compiled, sequences))
    after = give_back_sooner(compiled, before, Objective.MAKESPAN, enough())
    names = [Kind(int(compiled.operations.kind[row])).name for row in after.orders.sequences[0]]
    assert names == ["F", "B", "W", "F", "B", "W"]
    assert (in_flight_ns(compiled, before), in_flight_ns(compiled, after)) == (9 * MS, 6 * MS)
    assert makespan_ns(after) == makespan_ns(before)


def test_it_ends_when_the_allowance_is_over() -> None:
    compiled, sequences = _late_weights()
    before = replay(compiled, join_lanes(compiled, sequences))
    after = give_back_sooner(compiled, before, Objective.MAKESPAN, Allowance(Clock(60), 0.0))
    assert after is before
    for_one_swap = 1.5 * SWAP_S * len(compiled.operations)
    counted = Allowance(Clock(60), for_one_swap, counted=True)
    once = give_back_sooner(compiled, before, Objective.MAKESPAN, counted)
    assert 6 * MS < in_flight_ns(compiled, once) < 9 * MS
