"""Heads and tails are longest paths, memory included."""

from __future__ import annotations

import pytest
from tests.unit.model.draft import Draft, pipeline, ticks_of

from crosspipe.errors import DeadlockError
from crosspipe.model.arcs import forward_order
from crosspipe.model.chains import chain_arcs
from crosspipe.model.heads import heads, tails
from crosspipe.model.memory_order import memory_arcs
from crosspipe.model.precedence import precedence_arcs
from crosspipe.problem.operations import Kind


def test_two_stages_two_microbatches_one_in_flight() -> None:
    """F 2, B 3, W 2, hop 5; with room for one microbatch F0(1) waits for W0(0)."""
    draft, ops = pipeline([(0,), (1,)], 2, times=(2, 3, 2), lag=5, capacity=1, amounts=(1, 1))
    ticks = ticks_of(draft)
    arcs = precedence_arcs(ticks) + chain_arcs(ticks) + memory_arcs(ticks)
    order = forward_order(len(ticks.duration), arcs)
    head, tail = heads(ticks.duration, arcs, order), tails(ticks.duration, arcs, order)
    # F0 0-2, F1 7-9, B1 9-12, B0 17-20, W0 20-22, and all of it again.
    assert [int(head[ops[Kind.F, 0, j]]) for j in (0, 1)] == [0, 22]
    assert int(head[ops[Kind.W, 0, 1]]) == 42
    assert int(tail[ops[Kind.W, 0, 1]]) == 0
    assert int(tail[ops[Kind.F, 0, 0]]) == 42
    assert int(tail[ops[Kind.W, 1, 1]]) == 0


def test_every_arc_points_forward() -> None:
    draft, _ = pipeline([(0, 3), (1, 2)], 3, lag=2, capacity=3)
    ticks = ticks_of(draft)
    arcs = precedence_arcs(ticks) + chain_arcs(ticks) + memory_arcs(ticks)
    place = {operation: at for at, operation in enumerate(forward_order(len(ticks.duration), arcs).tolist())}
    assert all(place[b] < place[a] for b, a in zip(arcs.before.tolist(), arcs.after.tolist(), strict=True))


def test_a_circle_is_named() -> None:
    draft = Draft([(0,)])
    first, second, third = (draft.op(Kind.EXTRA, -1, 0, 1) for _ in range(3))
    draft.after(first, second)
    draft.after(second, third)
    draft.after(third, second)
    ticks = ticks_of(draft)
    with pytest.raises(DeadlockError) as caught:
        forward_order(3, precedence_arcs(ticks))
    assert set(caught.value.cycle) == {second, third}
