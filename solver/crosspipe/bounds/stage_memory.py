"""What each stage holds of each pool, told apart by what takes it and what gives it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.problem.problem import Problem

    IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class StageMemory:
    """Amounts of one pool that one stage of one replica holds; arrays have an entry per microbatch.

    Attributes
    ----------
    pool, device, stage, replica
        Numbers.
    room
        Capacity less what is held all the time, or whenever capacity binds (`Pool.kept`); None = unlimited.
    backward
        The operation that sends the gradient on, `B` or `BW`; None for a frozen stage.
    until_backward, until_weight
        Taken at the start of F, given back at the end of the backward, or of W.
    extra_until_weight, extra_backward
        Taken at the start of the backward, given back at the end of W, or of the backward itself.
    forward_only
        Taken at the start of F and given back at its end.
    takes_time
        For F, the backward and W: whether the operation is longer than 0. What is given back at the moment at which
        something is taken does not count beside it, so an operation of no length may hold nothing.
    """

    pool: int
    device: int
    stage: int
    replica: int
    room: int | None
    backward: Kind | None
    until_backward: IntArray
    until_weight: IntArray
    extra_until_weight: IntArray
    extra_backward: IntArray
    forward_only: IntArray
    takes_time: dict[Kind, NDArray[np.bool_]]

    @property
    def activation(self) -> IntArray:
        """Held from the start of F to the start of the backward at least."""
        return self.until_backward + self.until_weight


_WEIGHT = Kind.W


def stage_memories(problem: Problem) -> tuple[StageMemory, ...]:
    """Read the holdings of every pool and stage, ascending by pool and stage; holdings of other shapes are left out.

    Leaving a holding out lowers what is held, so conditions drawn from the result stay necessary.
    """
    ops, held = problem.operations, problem.holdings
    m, stages = problem.microbatches, len(problem.stages)
    taken, given = held.taken_by, held.given_by
    plain = (ops.kind[taken] <= Kind.BW) & (ops.kind[given] <= Kind.BW)
    for same in (ops.stage, ops.microbatch, ops.replica):
        plain &= same[taken] == same[given]
    rows = np.flatnonzero(plain & (held.amount > 0))
    if not len(rows):
        return ()
    spans = (ops.kind[taken[rows]] * 4 + ops.kind[given[rows]]).astype(np.int64)
    place = held.pool[rows] * stages + ops.stage[taken[rows]]
    keys, key_of = np.unique(place * 16 + spans, return_inverse=True)
    amounts = np.zeros((len(keys), m), dtype=np.int64)
    np.add.at(amounts, (key_of, ops.microbatch[taken[rows]]), held.amount[rows])

    zero = np.zeros(m, dtype=np.int64)
    by_place: dict[int, dict[int, IntArray]] = {}
    for key, amount in zip(keys.tolist(), amounts, strict=True):
        by_place.setdefault(key // 16, {})[key % 16] = amount
    found = []
    for where, parts in sorted(by_place.items()):
        pool, stage = divmod(where, stages)
        limit = problem.pools[pool]
        replica = problem.devices[limit.device].replica
        backward = backward_kind(problem, stage, replica)
        back = Kind.B if backward is None else backward
        found.append(
            StageMemory(
                pool=pool,
                device=limit.device,
                stage=stage,
                replica=replica,
                room=limit.room,
                backward=backward,
                until_backward=parts.get(Kind.F * 4 + back, zero),
                until_weight=parts.get(Kind.F * 4 + _WEIGHT, zero),
                extra_until_weight=parts.get(back * 4 + _WEIGHT, zero),
                extra_backward=parts.get(back * 4 + back, zero),
                forward_only=parts.get(Kind.F * 4 + Kind.F, zero),
                takes_time={kind: _takes_time(problem, kind, replica, stage) for kind in (Kind.F, back, Kind.W)},
            )
        )
    return tuple(found)


def _takes_time(problem: Problem, kind: Kind, replica: int, stage: int) -> NDArray[np.bool_]:
    rows = problem.numbers[kind, replica, stage]
    found: NDArray[np.bool_] = (rows >= 0) & (problem.operations.duration_ns[rows] > 0)
    return found


def backward_kind(problem: Problem, stage: int, replica: int = 0) -> Kind | None:
    """Which operation sends the gradient of a stage on; None if it is frozen."""
    for kind in (Kind.B, Kind.BW):
        if problem.number(kind, stage, 0, replica) is not None:
            return kind
    return None
