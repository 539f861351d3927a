"""What each stage holds of each pool, read from the holdings one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crosspipe.certificate.gathered import gathered
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

Amounts = list[int]


@dataclass(slots=True)
class Held:
    """Amounts of one pool held for one stage, per microbatch, by what takes and what gives them back.

    Attributes
    ----------
    pool, stage, device, replica
        Numbers; the replica is that of the device.
    room
        What the pool can hold beside what it holds all the time, gathered weights counted; None for any amount.
    backward
        Kind of the stage's backward, None if it is frozen.
    in_forward
        From F to F: held while it runs.
    to_backward, to_weight
        From the start of F to the end of the backward, to the end of W.
    backward_to_weight, in_backward
        From the start of the backward to the end of W, to its own end.
    """

    pool: int
    stage: int
    device: int
    replica: int
    room: int | None
    backward: Kind | None
    in_forward: Amounts = field(default_factory=list)
    to_backward: Amounts = field(default_factory=list)
    to_weight: Amounts = field(default_factory=list)
    backward_to_weight: Amounts = field(default_factory=list)
    in_backward: Amounts = field(default_factory=list)

    def waiting(self, microbatch: int) -> int:
        """Held from the start of F to the end of the backward at least."""
        return self.to_backward[microbatch] + self.to_weight[microbatch]

    def after_backward(self, microbatch: int) -> int:
        """Held from the end of the backward to the end of W."""
        return self.to_weight[microbatch] + self.backward_to_weight[microbatch]


def backward_of(problem: Problem, stage: int, replica: int) -> Kind | None:
    """Kind of the operation that sends a stage's gradient on."""
    table = problem.numbers
    return next((kind for kind in (Kind.B, Kind.BW) if (table[kind, replica, stage] >= 0).all()), None)


def held_by_stage(problem: Problem) -> dict[int, list[Held]]:
    """Group the holdings of each pool by stage, ascending; every stage of the pool's device is there.

    A holding of another shape than those of `Held` is left out, which can only weaken what is derived.
    """
    ops, holdings = problem.operations, problem.holdings
    found: dict[int, dict[int, Held]] = {}
    for number, pool in enumerate(problem.pools):
        device = problem.devices[pool.device]
        room = None if pool.capacity is None else pool.capacity - pool.base - gathered(problem, number)
        found[number] = {}
        for stage in sorted(device.stages):
            one = Held(number, stage, pool.device, device.replica, room, backward_of(problem, stage, device.replica))
            for name in ("in_forward", "to_backward", "to_weight", "backward_to_weight", "in_backward"):
                setattr(one, name, [0] * problem.microbatches)
            found[number][stage] = one
    kind, stage_of, microbatch = ops.kind.tolist(), ops.stage.tolist(), ops.microbatch.tolist()
    resource = ops.resource.tolist()
    rows = zip(
        holdings.pool.tolist(),
        holdings.taken_by.tolist(),
        holdings.given_by.tolist(),
        holdings.amount.tolist(),
        strict=True,
    )
    for pool_number, taken, given, amount in rows:
        stage, place = stage_of[taken], microbatch[taken]
        owner = found[pool_number].get(stage)
        same = stage == stage_of[given] and place == microbatch[given]
        here = owner is not None and resource[taken] == resource[given] == owner.device
        if owner is None or not (same and here) or amount <= 0:
            continue
        column = _column(owner, kind[taken], kind[given])
        if column is not None:
            column[place] += amount
    return {pool: [by_stage[stage] for stage in sorted(by_stage)] for pool, by_stage in found.items()}


def _column(owner: Held, taken: int, given: int) -> Amounts | None:
    if taken == Kind.F:
        if given == Kind.F:
            return owner.in_forward
        if given == Kind.W:
            return owner.to_weight
        return owner.to_backward if owner.backward is not None and given == owner.backward else None
    if owner.backward is not None and taken == owner.backward:
        if given == Kind.W:
            return owner.backward_to_weight
        return owner.in_backward if given == owner.backward else None
    return None


def gradients_reach_down(problem: Problem) -> bool:
    """Whether every stage after the first with a backward has one, so that backwards run from last to first."""
    has = [backward_of(problem, stage, 0) is not None for stage in range(len(problem.stages))]
    return has == sorted(has)
