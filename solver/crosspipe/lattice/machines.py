"""The machines of a problem whose microbatches are alike: devices and lanes, each a lattice of counts.

With identical microbatches some optimal schedule keeps every class (stage and kind, hop and direction) in index order,
so what a machine has done is told by how many operations of each class are over. Along the chain F(0), [message], F(1),
..., B(last), ..., [message], B(0) each node of a microbatch starts after all before it, so the counts of a machine's
classes fall along the chain; all W of a device make one further class, at most as many as its B's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.lattice.nodes import Node
from crosspipe.lattice.states import StateSpace, enumerate_states
from crosspipe.problem.problem import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import IntArray, Problem


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """One device or lane.

    Attributes
    ----------
    resource
        Its number in the problem.
    nodes
        Its classes: indices into the nodes, in chain order, W last.
    space
        Its states.
    """

    resource: int
    nodes: tuple[int, ...]
    space: StateSpace


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """All machines of a problem, times in ticks.

    Attributes
    ----------
    tick_ns
        Nanoseconds of one tick: the greatest common divisor of all times.
    nodes
        The chain, then the W classes.
    chain
        Number of nodes in the chain.
    machines
        Lanes first: they are the cheapest to look at.
    lanes
        Number of lanes among the machines.
    width
        Largest number of operations in a class.
    """

    tick_ns: int
    nodes: tuple[Node, ...]
    chain: int
    machines: tuple[Machine, ...]
    lanes: int
    microbatches: int
    width: int


def has_lattice(problem: Problem) -> bool:
    """Whether there is one modelled replica of identical microbatches, and a route for every message."""
    return problem.identical and problem.replicas == 1 and not any(hop.missing for hop in problem.hops)


def says_all(problem: Problem) -> bool:
    """Whether a lattice leaves nothing out but windows: there are no extra operations and no deadlines."""
    return not problem.extras and problem.due_ns is None


def lattice_of(problem: Problem, most_states: int) -> Lattice | None:
    """Build the lattice of a problem, None where it does not apply or would exceed `most_states`.

    Windows, extra operations and deadlines are left out: what is refuted without them is refuted with them.
    """
    if not has_lattice(problem):
        return None
    if problem.choices and not problem.recomputed:
        return None
    tick = math.gcd(*(int(v) for v in problem.operations.duration_ns), *(int(v) for v in problem.precedences.lag_ns))
    chain = _chain(problem, max(tick, 1))
    return _with_machines(problem, chain, max(tick, 1), most_states)


def _chain(problem: Problem, tick: int) -> list[Node]:
    """List the chain of one microbatch; machines are resource numbers until they are numbered."""
    hops = {(hop.boundary, hop.kind): hop for hop in problem.hops}
    stages = range(len(problem.stages))
    steps: list[tuple[Kind, int]] = []
    for stage in stages:
        steps.append((Kind.F, stage))
        if problem.number(Kind.ACTIVATION, stage, 0) is not None:
            steps.append((Kind.ACTIVATION, stage))
    for stage in reversed(stages):
        kind = next((k for k in (Kind.B, Kind.BW) if problem.number(k, stage, 0) is not None), None)
        if kind is None:
            break
        if stage + 1 in stages and problem.number(Kind.GRADIENT, stage, 0) is not None:
            steps.append((Kind.GRADIENT, stage))
        steps.append((kind, stage))
    nodes = []
    for place, (kind, stage) in enumerate(steps):
        number = problem.numbers[kind, 0, stage, 0]
        duration = int(problem.operations.duration_ns[number])
        latency = 0
        if place + 1 < len(steps):
            after, other = steps[place + 1]
            boundary = stage if kind.is_transfer else min(stage, other)
            direct = (not after.is_transfer and stage != other) or kind.is_transfer
            towards = Kind.ACTIVATION if (kind in (Kind.F, Kind.ACTIVATION)) else Kind.GRADIENT
            latency = hops[boundary, towards].latency_ns if direct else 0
        lag = 0 if place + 1 == len(steps) else duration + latency
        resource = int(problem.operations.resource[number])
        nodes.append(Node(kind, (stage,), duration // tick, lag // tick, resource))
    return nodes


def _with_machines(problem: Problem, chain: list[Node], tick: int, most_states: int) -> Lattice | None:
    nodes = list(chain)
    for device in range(problem.devices_per_replica):
        weights = [s for s in problem.devices[device].stages if problem.number(Kind.W, s, 0) is not None]
        if weights:
            numbers = [problem.numbers[Kind.W, 0, stage, 0] for stage in weights]
            shortest = min(int(problem.operations.duration_ns[number]) for number in numbers)
            nodes.append(Node(Kind.W, tuple(weights), shortest // tick, 0, device))
    by_resource: dict[int, list[int]] = {}
    for index, node in enumerate(nodes):
        by_resource.setdefault(node.machine, []).append(index)
    devices = len(problem.devices)
    order = sorted(by_resource, key=lambda resource: (resource < devices, resource))
    machines, left = [], most_states
    for resource in order:
        space = enumerate_states(problem, [nodes[i] for i in by_resource[resource]], resource, left)
        if space is None:
            return None
        left -= len(space.counts)
        machines.append(Machine(resource, tuple(by_resource[resource]), space))
    place = {resource: number for number, resource in enumerate(order)}
    placed = tuple(Node(n.kind, n.stages, n.duration, n.lag, place[n.machine]) for n in nodes)
    width = problem.microbatches * max(len(node.stages) for node in nodes)
    lanes = sum(resource >= devices for resource in order)
    return Lattice(tick, placed, len(chain), tuple(machines), lanes, problem.microbatches, width)


def starts_of(lattice: Lattice) -> IntArray:
    """Earliest start of each chain node for microbatch 0 on an empty system, in ticks."""
    lags = [node.lag for node in lattice.nodes[: lattice.chain - 1]]
    return np.concatenate([[0], np.cumsum(lags)]).astype(np.int64)
