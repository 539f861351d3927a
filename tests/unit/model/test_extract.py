"""From start times back to orders."""

from __future__ import annotations

import numpy as np
from tests.unit.model.draft import Draft, ticks_of

from crosspipe.model.arcs import forward_order
from crosspipe.model.chains import chain_arcs
from crosspipe.model.extract import orders_of
from crosspipe.model.precedence import precedence_arcs
from crosspipe.problem.operations import NO_RESOURCE, Kind
from crosspipe.schedule.replay import replay


def test_each_resource_is_sorted_by_start() -> None:
    draft = Draft([(0,), (1,)], [()])
    numbers = [draft.op(Kind.F, 0, j, 2, resource) for j, resource in enumerate([1, 0, 1, 2, 0, NO_RESOURCE])]
    assert numbers == list(range(6))
    orders = orders_of(ticks_of(draft), np.array([7, 3, 2, 0, 0, 1]), np.arange(6))
    assert [sequence.tolist() for sequence in orders.sequences] == [[4, 1], [2, 0], [3]]


def test_empty_operations_that_share_a_start_follow_their_precedences() -> None:
    """On each of two devices an empty operation waits for the other device's; all start at 0."""
    draft = Draft([(0,), (1,)])
    late = [draft.op(Kind.F, 0, 0, 0, 0), draft.op(Kind.F, 1, 0, 0, 1)]
    early = [draft.op(Kind.EXTRA, -1, 0, 0, 0), draft.op(Kind.EXTRA, -1, 0, 0, 1)]
    draft.after(early[1], late[0])
    draft.after(early[0], late[1])
    ticks = ticks_of(draft)
    order = forward_order(4, precedence_arcs(ticks) + chain_arcs(ticks))
    orders = orders_of(ticks, np.zeros(4, dtype=np.int64), order)
    assert [sequence.tolist() for sequence in orders.sequences] == [[early[0], late[0]], [early[1], late[1]]]
    assert replay(draft.problem(), orders).end_ns.tolist() == [0, 0, 0, 0]


def test_an_empty_operation_goes_before_a_long_one_of_the_same_start() -> None:
    draft = Draft([(0,)])
    draft.op(Kind.F, 0, 0, 5, 0)
    draft.op(Kind.EXTRA, -1, 0, 0, 0)
    orders = orders_of(ticks_of(draft), np.array([3, 3]), np.arange(2))
    assert orders.sequences[0].tolist() == [1, 0]
