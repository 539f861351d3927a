"""Waits that limited memory forces, where classes run in index order.

Written for one pool with room C on a device, stage s, microbatches i < j; all of F, the backward and W of the stage in
index order, and F longer than 0, so that what it takes is held at the moment it starts.

- While F_s(i) has started and the backward of s has not ended, i holds A_i: what F_s takes, and what the forwards of
  earlier stages on the device took, whose backwards come later still.
- When F_s(j) starts, the microbatches whose backward has not ended are the last few up to j. As their A fit in C
  together with what F_s(j) takes for itself, the backward of the last one that is too many has ended.
- Then also, every i < j whose W has not ended holds at least the smaller of what F_s took and what is left after the
  backward; so the W of the last one too many has ended.
- When the backward of j starts (and is longer than 0), those before j have ended theirs; those without W hold what is
  left after it; j holds A_j and what its backward takes. So the W of the last one too many has ended.
- Microbatches alike, K >= 2 of them fill C up to less than what F_t takes, t the next stage on the device: when
  F_s(j + K - 1) starts, the backward of t for j has ended. If it had not, neither would any of s from j on, so K A is
  held until it has; then F_t(j), begun earlier or later, holds more than there is room for when it or F_s starts.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

from crosspipe.certificate.held import gradients_reach_down, held_by_stage
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.certificate.held import Held
    from crosspipe.certificate.sequence import ClassKey
    from crosspipe.problem.problem import Problem

Pair = tuple[int, int]
"""The second operation starts after the end of the first."""


class Rows:
    """Operation numbers of whole classes by microbatch, where they run in that order."""

    def __init__(self, problem: Problem, ordered: Mapping[ClassKey, Sequence[int]]) -> None:
        self._problem, self._ordered = problem, ordered

    def of(self, kind: Kind, replica: int, stage: int) -> list[int] | None:
        """All operations of a class; None if some are missing or their order is free."""
        numbers: list[int] = self._problem.numbers[kind, replica, stage].tolist()
        return numbers if self._ordered.get((int(kind), replica, stage, 0)) == numbers else None

    def last(self, numbers: Sequence[int]) -> bool:
        """Whether every one of these takes time."""
        return bool((self._problem.operations.duration_ns[list(numbers)] > 0).all())


def forced_pairs(problem: Problem, ordered: Mapping[ClassKey, Sequence[int]], alike: bool) -> set[Pair]:
    """All waits that limited pools force."""
    found: set[Pair] = set()
    if not gradients_reach_down(problem):
        return found
    rows = Rows(problem, ordered)
    for stages in held_by_stage(problem).values():
        below = [0] * problem.microbatches
        for place, held in enumerate(stages):
            waiting = [below[i] + held.waiting(i) for i in range(problem.microbatches)]
            found |= _of_stage(rows, held, waiting)
            if alike and place + 1 < len(stages):
                found |= _of_neighbours(rows, held, stages[place + 1], waiting[0])
            if held.backward is not None:
                below = waiting
    return found


def _of_stage(rows: Rows, held: Held, waiting: list[int]) -> set[Pair]:
    if held.room is None or held.backward is None:
        return set()
    forward = rows.of(Kind.F, held.replica, held.stage)
    backward = rows.of(held.backward, held.replica, held.stage)
    weight = rows.of(Kind.W, held.replica, held.stage)
    if forward is None or backward is None or not rows.last(forward):
        return set()
    count = range(len(forward))
    starting = [waiting[j] + held.in_forward[j] for j in count]
    found = _waits(backward, forward, waiting, starting, held.room)
    if weight is not None:
        least = [min(held.waiting(i), held.after_backward(i)) for i in count]
        found |= _waits(weight, forward, least, starting, held.room)
        if rows.last(backward):
            after = [held.after_backward(i) for i in count]
            taking = [waiting[j] + held.backward_to_weight[j] + held.in_backward[j] for j in count]
            found |= _waits(weight, backward, after, taking, held.room)
    return found


def _waits(before: list[int], after: list[int], held: list[int], own: list[int], room: int) -> set[Pair]:
    """Let after[j] wait for before[b - 1], b the least with `held[b] + ... + held[j - 1] + own[j] <= room`."""
    if any(amount > room for amount in own):
        return set()
    sums = [0, *accumulate(held)]
    first = [bisect_left(sums, sums[j] + own[j] - room) for j in range(len(after))]
    return {(before[b - 1], after[j]) for j, b in enumerate(first) if b > 0}


def _of_neighbours(rows: Rows, lower: Held, upper: Held, waiting: int) -> set[Pair]:
    if lower.room is None or lower.backward is None or upper.backward is None or waiting == 0:
        return set()
    forward, above = (rows.of(Kind.F, one.replica, one.stage) for one in (lower, upper))
    ends = [rows.of(one.backward, one.replica, one.stage) for one in (lower, upper) if one.backward is not None]
    if forward is None or above is None or None in ends or not (rows.last(forward) and rows.last(above)):
        return set()
    most = lower.room // waiting
    if most < 2 or lower.room - most * waiting >= upper.waiting(0):
        return set()
    backward = ends[1] or []
    return {(backward[j], forward[j + most - 1]) for j in range(len(forward) - most + 1)}
