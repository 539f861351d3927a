"""What the methods of a solving process share: only what is better counts, and it is told before anyone acts on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.search.children import ORDERS as SLOWER
from tests.unit.search.children import PROBLEM

from crosspipe.families.registry import Family
from crosspipe.families.zero_bubble import zb_h1
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import makespan_ns
from crosspipe.schedule.orders import Orders
from crosspipe.schedule.replay import replay
from crosspipe.search.shared import Shared

FASTER = Family("ZB-H1", zb_h1).build(PROBLEM)
SLOW_NS, FAST_NS = (makespan_ns(replay(PROBLEM, orders)) for orders in (SLOWER, FASTER))


class Heard:
    """Keeps what is told, and what the others could see at that moment."""

    def __init__(self, incumbent: Orders | None = None, seconds: float = 60, stop: bool = False) -> None:
        self.told: list[tuple[str, Any, str]] = []
        self.seen: list[tuple[int | None, int]] = []
        self.shared = Shared(
            PROBLEM,
            Objective.MAKESPAN,
            incumbent,
            0,
            (seconds, 0.0),
            on_orders=lambda orders, source: self._hear("orders", orders, source),
            on_bound=lambda bound_ns, source, _: self._hear("bound", bound_ns, source),
            should_stop=lambda: stop,
        )

    def _hear(self, what: str, value: Any, source: str) -> None:
        self.told.append((what, value, source))
        self.seen.append((self.shared.value_ns, self.shared.bound_ns))


def test_the_orders_tried_are_of_two_lengths() -> None:
    assert FAST_NS < SLOW_NS


def test_only_better_orders_are_kept_and_told() -> None:
    heard = Heard()
    assert heard.shared.offer(SLOWER, "one")
    assert heard.shared.offer(FASTER, "two")
    assert not heard.shared.offer(SLOWER, "three")
    assert not heard.shared.offer(FASTER, "four")
    assert [(orders, source) for _, orders, source in heard.told] == [(SLOWER, "one"), (FASTER, "two")]
    assert heard.shared.value_ns == FAST_NS


def test_equal_orders_are_kept_on_request_but_not_told() -> None:
    heard = Heard(incumbent=FASTER)
    assert heard.shared.offer(FASTER, "walk", equal=True)
    assert heard.told == []


def test_only_higher_bounds_are_kept_and_told() -> None:
    heard = Heard()
    for bound_ns in (5, 3, 5, 9):
        heard.shared.raise_bound(bound_ns, "x")
    assert [bound_ns for _, bound_ns, _ in heard.told] == [5, 9]


def test_what_is_found_is_told_before_the_others_see_it() -> None:
    """Else another thread could end the process on its strength before it is sent."""
    heard = Heard()
    heard.shared.offer(FASTER, "x")
    heard.shared.raise_bound(FAST_NS, "x")
    assert heard.seen == [(None, 0), (FAST_NS, 0)]
    assert heard.shared.ended()


def test_work_ends_with_the_proof_the_time_or_the_wish() -> None:
    assert not Heard(incumbent=FASTER).shared.ended()
    assert Heard(incumbent=FASTER, seconds=0).shared.ended()
    assert Heard(incumbent=FASTER, stop=True).shared.ended()


@pytest.mark.parametrize("swap", [(0, -1), (0, 1)])
def test_orders_that_wait_for_themselves_are_no_schedule(swap: tuple[int, int]) -> None:
    one, other = swap
    sequences = [np.array(sequence) for sequence in FASTER.sequences]
    sequences[0][[one, other]] = sequences[0][[other, one]]
    heard = Heard()
    made = Orders(tuple(sequences))
    if heard.shared.offer(made, "x"):
        assert makespan_ns(replay(PROBLEM, made)) == heard.shared.value_ns
    else:
        assert heard.told == []
        assert heard.shared.value_ns is None
