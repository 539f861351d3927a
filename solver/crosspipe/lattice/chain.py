"""The classes that one microbatch passes through: forwards, backwards, and the links of the messages between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.lattice.nodes import Node
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.links import Hop
    from crosspipe.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class _Step:
    """A class, and the latency from the end of the one before it to its start."""

    kind: Kind
    stage: int
    latency_ns: int = 0
    leg: int = 0


def chain_of(problem: Problem, tick: int) -> list[Node]:
    """List the chain of one microbatch, times in ticks; machines are resource numbers until they are numbered."""
    steps = _steps(problem)
    nodes = []
    for place, step in enumerate(steps):
        number = problem.numbers_by_leg[step.leg, step.kind, 0, step.stage, 0]
        duration = int(problem.operations.duration_ns[number])
        lag = 0 if place + 1 == len(steps) else duration + steps[place + 1].latency_ns
        resource = int(problem.operations.resource[number])
        nodes.append(
            Node(step.kind, (step.stage,), duration // tick, lag // tick, resource, problem.microbatches, leg=step.leg)
        )
    return nodes


def _steps(problem: Problem) -> list[_Step]:
    hops = {(hop.boundary, hop.kind): hop for hop in problem.hops}
    stages = range(len(problem.stages))
    steps: list[_Step] = []
    for stage in stages:
        steps += _passed(problem, hops.get((stage - 1, Kind.ACTIVATION)), _Step(Kind.F, stage))
    for stage in reversed(stages):
        kind = next((k for k in (Kind.B, Kind.BW) if problem.number(k, stage, 0) is not None), None)
        if kind is None:
            break
        steps += _passed(problem, hops.get((stage, Kind.GRADIENT)), _Step(kind, stage))
    return steps


def _passed(problem: Problem, hop: Hop | None, receiver: _Step) -> list[_Step]:
    """List the links on which a message queues, then what receives it; the latency of any other link adds up."""
    if hop is None:
        return [receiver]
    steps, latency_ns = [], 0
    for number, leg in enumerate(hop.legs):
        if problem.numbers_by_leg[number, hop.kind, 0, hop.boundary, 0] >= 0:
            steps.append(_Step(hop.kind, hop.boundary, latency_ns, number))
            latency_ns = 0
        latency_ns += leg.latency_ns
    return [*steps, _Step(receiver.kind, receiver.stage, latency_ns)]
