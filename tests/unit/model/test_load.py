"""What a device or lane does cannot be done in less than its own time."""

from __future__ import annotations

import numpy as np
from tests.unit.model.draft import Draft, ticks_of

from crosspipe.model.load import load
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective


def _draft() -> Draft:
    """Device 0: F 3 and an extra operation of 5; device 1: F 6; the lane: a message of 4."""
    draft = Draft([(0,), (1,)], [()])
    draft.op(Kind.F, 0, 0, 3, 0)
    draft.op(Kind.EXTRA, -1, 0, 5, 0)
    draft.op(Kind.F, 1, 0, 6, 1)
    draft.op(Kind.ACTIVATION, 0, 0, 4, draft.lane())
    return draft


def test_a_device_begins_at_its_smallest_head_and_ends_before_its_smallest_tail() -> None:
    heads, tails = np.array([2, 1, 0, 0]), np.array([7, 4, 0, 0])
    assert load(ticks_of(_draft()), heads, tails) == 1 + 8 + 4


def test_a_lane_counts_like_a_device() -> None:
    heads, tails = np.array([0, 0, 0, 6]), np.array([0, 0, 0, 9])
    assert load(ticks_of(_draft()), heads, tails) == 6 + 4 + 9


def test_the_span_counts_only_the_compute_of_a_device() -> None:
    ticks = ticks_of(_draft(), Objective.SPAN)
    nothing = np.zeros(4, dtype=np.int64)
    assert load(ticks, nothing, nothing) == ticks.scale.ticks(6)
