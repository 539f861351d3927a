"""A compiled problem as the Zero Bubble paper's MILP sees it: F, B and W of one stage per device, in units of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

KINDS = (Kind.F, Kind.B, Kind.W)


class UnsuitableError(ValueError):
    """The problem has a feature the MILP does not know."""


@dataclass(frozen=True, slots=True)
class Message:
    """Time on its lane (0 = no lane), then latency, in units."""

    transfer: int
    latency: int


@dataclass(frozen=True, slots=True)
class StageView:
    """What the MILP needs.

    Attributes
    ----------
    unit_ns
        Unit of all times here.
    times
        Per stage, time of F, B and W.
    taken, left
        Per stage and kind, memory taken at the start, and what it has changed by at the end (negative = freed).
    room
        Per stage, memory for activations, None for no limit.
    down, up
        Per boundary, the activation's and the gradient's message.
    """

    unit_ns: int
    microbatches: int
    times: tuple[dict[Kind, int], ...]
    taken: tuple[dict[Kind, int], ...]
    left: tuple[dict[Kind, int], ...]
    room: tuple[int | None, ...]
    down: tuple[Message, ...]
    up: tuple[Message, ...]

    @property
    def stages(self) -> int:
        """Number of stages."""
        return len(self.times)


def stage_view(problem: Problem, unit_ns: int) -> StageView:
    """Read a problem.

    Raises
    ------
    UnsuitableError
        If it is more than a unidirectional pipeline of F, B and W with like microbatches and memory limits.
    """
    _require(problem)
    stages = range(len(problem.stages))
    numbers = {(stage, kind): int(problem.numbers[kind, 0, stage, 0]) for stage in stages for kind in KINDS}
    if min(numbers.values()) < 0:
        raise UnsuitableError("every stage must have F, B and W")
    taken: list[dict[Kind, int]] = [dict.fromkeys(KINDS, 0) for _ in stages]
    left: list[dict[Kind, int]] = [dict.fromkeys(KINDS, 0) for _ in stages]
    place = {number: where for where, number in numbers.items()}
    held = problem.holdings
    for taker, giver, amount in zip(held.taken_by.tolist(), held.given_by.tolist(), held.amount.tolist(), strict=True):
        if taker in place:
            (stage, first), (_, last) = place[taker], place[giver]
            taken[stage][first] += amount
            left[stage][first] += amount
            left[stage][last] -= amount
    room = {pool.device: None if pool.capacity is None else pool.capacity - pool.base for pool in problem.pools}
    durations = problem.operations.duration_ns
    return StageView(
        unit_ns=unit_ns,
        microbatches=problem.microbatches,
        times=tuple({kind: int(durations[numbers[stage, kind]]) // unit_ns for kind in KINDS} for stage in stages),
        taken=tuple(taken),
        left=tuple(left),
        room=tuple(room.get(problem.stages[stage].device) for stage in stages),
        down=_messages(problem, Kind.ACTIVATION, unit_ns),
        up=_messages(problem, Kind.GRADIENT, unit_ns),
    )


def _require(problem: Problem) -> None:
    own_device = [stage.device for stage in problem.stages] == list(range(len(problem.devices)))
    lanes = [hop.lanes for hop in problem.hops if hop.lanes]
    rules = {
        "one stage per device, in order": own_device and problem.replicas == 1,
        "like microbatches": problem.identical,
        "no extra operations, deadlines or recompute options": not (problem.extras or problem.choices)
        and problem.due_ns is None,
        "limits of memory alone": all(pool.unit == "bytes" for pool in problem.pools),
        "lanes without windows, one per boundary and direction": not any(lane.windows for lane in problem.lanes)
        and len(set(lanes)) == len(lanes),
        "a route for every message": not any(hop.missing for hop in problem.hops),
        "one link for every message": all(len(hop.legs) < 2 for hop in problem.hops),
    }
    for rule, holds in rules.items():
        if not holds:
            raise UnsuitableError(f"the MILP needs {rule}")


def _messages(problem: Problem, kind: Kind, unit_ns: int) -> tuple[Message, ...]:
    hops = sorted((hop for hop in problem.hops if hop.kind == kind), key=lambda hop: hop.boundary)
    return tuple(Message(hop.transfer_ns // unit_ns if hop.lanes else 0, hop.latency_ns // unit_ns) for hop in hops)
