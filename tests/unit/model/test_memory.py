"""A device never holds more than it has, whether lifetimes or counts say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.unit.model.draft import Draft, accepts, ticks_of

from crosspipe.model.devices import add_devices
from crosspipe.model.memory import add_memory
from crosspipe.model.memory_counts import countable
from crosspipe.model.order_literals import OrderLiterals
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables


def by_counts(model: CpModel, variables: Variables, ticks: Ticks) -> None:
    """Say it by order literals, on devices that run one operation at a time."""
    add_devices(model, variables, ticks)
    assert all(room is None or room < 0 or countable(ticks, pool) for pool, room in enumerate(ticks.room))
    earliest = np.zeros(len(ticks.duration), dtype=np.int64)
    literals = OrderLiterals(model, variables, ticks, earliest, ticks.horizon - ticks.duration)
    add_memory(model, variables, ticks, literals)
    literals.link()


BOTH = pytest.mark.parametrize("add", [add_memory, by_counts])


def _two_microbatches(capacity: int, base: int = 0) -> Draft:
    """F takes 3, B gives back 2 and W the rest; numbers F0 F1 B0 B1 W0 W1, one unit of time each."""
    draft = Draft([(0,)], multipliers=("1", "1"))
    pool = draft.pool(0, capacity, base)
    forward, backward, weight = ([draft.op(kind, 0, j, 1, 0) for j in range(2)] for kind in (Kind.F, Kind.B, Kind.W))
    for j in range(2):
        draft.hold(pool, forward[j], backward[j], 2)
        draft.hold(pool, forward[j], weight[j], 1)
    return draft


@BOTH
def test_two_in_flight_are_cut_where_only_one_fits(add: Callable[[CpModel, Variables, Ticks], None]) -> None:
    assert not accepts(_two_microbatches(5), add, [0, 1, 2, 3, 4, 5])


@BOTH
def test_what_is_given_back_at_a_moment_can_be_taken_at_it(add: Callable[[CpModel, Variables, Ticks], None]) -> None:
    """F1 starts as B0 ends: 1 left of microbatch 0 and 3 of microbatch 1."""
    assert accepts(_two_microbatches(4), add, [0, 2, 1, 3, 4, 5])
    assert not accepts(_two_microbatches(3), add, [0, 2, 1, 3, 4, 5])


@BOTH
def test_what_is_held_all_the_time_counts(add: Callable[[CpModel, Variables, Ticks], None]) -> None:
    assert not accepts(_two_microbatches(8, base=3), add, [0, 1, 2, 3, 4, 5])
    assert accepts(_two_microbatches(9, base=3), add, [0, 1, 2, 3, 4, 5])


@BOTH
def test_what_b_takes_counts_from_its_start(add: Callable[[CpModel, Variables, Ticks], None]) -> None:
    """A frozen-like F holds 1 while it runs; B takes 2 more until W ends."""
    draft = Draft([(0,)])
    pool = draft.pool(0, 2)
    forward, backward, weight = (draft.op(kind, 0, 0, 2, 0) for kind in (Kind.F, Kind.B, Kind.W))
    draft.hold(pool, forward, forward, 1)
    draft.hold(pool, backward, weight, 2)
    assert not accepts(draft, add, [0, 1, 4])
    assert accepts(draft, add, [0, 2, 4])


@BOTH
def test_static_memory_alone_over_the_capacity_leaves_nothing(add: Callable[[CpModel, Variables, Ticks], None]) -> None:
    assert not accepts(_two_microbatches(2, base=3), add, [0, 10, 1, 11, 2, 12])


@pytest.mark.parametrize("capacity", [6, None])
def test_a_pool_that_cannot_be_exceeded_is_left_out(capacity: int | None) -> None:
    draft = _two_microbatches(6)
    draft.pools[0] = type(draft.pools[0])("memory", "bytes", 0, capacity)
    assert ticks_of(draft).room == (None,)


def test_holdings_of_other_devices_and_of_no_length_are_not_counted() -> None:
    draft = _two_microbatches(4)
    assert countable(ticks_of(draft), 0)
    empty = draft.op(Kind.W, 0, 1, 0, 0)
    draft.hold(0, 0, empty, 1)
    assert not countable(ticks_of(draft), 0)
    other = Draft([(0,), (1,)])
    pool = other.pool(0, 1)
    other.hold(pool, other.op(Kind.F, 0, 0, 1, 0), other.op(Kind.B, 1, 0, 1, 1), 2)
    assert not countable(ticks_of(other), 0)
