"""The machines of a problem whose microbatches are alike: devices and lanes, each a lattice of counts.

With identical microbatches some optimal schedule keeps every class (stage and kind; hop, direction and leg) in order,
so what a machine has done is told by how many operations of each class are over. Along the chain F(0), [links], F(1),
..., B(last), ..., [links], B(0) each node of a microbatch starts after all before it, so the counts of a machine's
classes fall along the chain; all W of a device make one further class, at most as many as its B's. Extra operations
that occupy the machine make classes of their own (`extras`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.lattice.chain import chain_of
from crosspipe.lattice.extras import places_of, single_nodes
from crosspipe.lattice.hours import LARGEST_TIME, hours_of
from crosspipe.lattice.nodes import Node
from crosspipe.lattice.states import StateSpace, enumerate_states
from crosspipe.lattice.ties import links_of
from crosspipe.problem.operations import NO_DEADLINE, Kind
from crosspipe.problem.step import step_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.lattice.hours import Hours
    from crosspipe.lattice.ties import Links
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """One device or lane.

    Attributes
    ----------
    resource
        Its number in the problem.
    nodes
        Its classes: indices into the nodes, in chain order, then W, then extra operations.
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
        Nanoseconds of one tick: see `step_ns`.
    nodes
        The chain, then the W classes, then extra operations: those joined on machines, then each by itself.
    chain
        Number of nodes in the chain.
    machines
        Lanes first: they are the cheapest to look at.
    lanes
        Number of lanes among the machines.
    width
        Largest number of operations in a class.
    links
        What ties extra operations to the rest.
    hours
        Opening hours of the lanes that have windows.
    due
        Latest end by [class, index] in ticks, None where there is no deadline.
    """

    tick_ns: int
    nodes: tuple[Node, ...]
    chain: int
    machines: tuple[Machine, ...]
    lanes: int
    microbatches: int
    width: int
    links: Links
    hours: Hours
    due: IntArray | None


def has_lattice(problem: Problem) -> bool:
    """Whether there is one modelled replica of identical microbatches, and a route for every message."""
    return problem.identical and problem.replicas == 1 and not any(hop.missing for hop in problem.hops)


def lattice_of(problem: Problem, most_states: int) -> Lattice | None:
    """Build the lattice of a problem, None where it does not apply or would exceed `most_states`."""
    if not has_lattice(problem):
        return None
    if problem.choices and not problem.recomputed:
        return None
    tick = step_ns(problem)
    singles = single_nodes(problem, tick)
    if len(singles) < len(problem.extras):
        return None  # some wait for each other in a circle
    return _with_machines(problem, chain_of(problem, tick), singles, tick, most_states)


def _with_machines(
    problem: Problem, chain: list[Node], singles: list[Node], tick: int, most_states: int
) -> Lattice | None:
    nodes = list(chain)
    for device in range(problem.devices_per_replica):
        weights = tuple(s for s in problem.devices[device].stages if problem.number(Kind.W, s, 0) is not None)
        if weights:
            numbers = [problem.numbers[Kind.W, 0, stage, 0] for stage in weights]
            shortest = min(int(problem.operations.duration_ns[number]) for number in numbers)
            count = problem.microbatches * len(weights)
            nodes.append(Node(Kind.W, weights, shortest // tick, 0, device, count))
    devices = len(problem.devices)
    places: dict[int, list[Node]] = {}
    for place in places_of(problem, nodes, tick):
        places.setdefault(place.machine, []).append(place)
    order = sorted({node.machine for node in nodes} | set(places), key=lambda resource: (resource < devices, resource))
    spaces: dict[int, StateSpace] = {}
    left = most_states
    for resource in order:
        own = [node for node in nodes if node.machine == resource]
        space = enumerate_states(problem, own + places.get(resource, []), resource, left)
        if space is None and places.pop(resource, []) and own:
            space = enumerate_states(problem, own, resource, left)
        if space is None:
            return None
        left -= len(space.counts)
        spaces[resource] = space
    return _numbered(
        problem, len(chain), nodes + [place for row in places.values() for place in row], singles, spaces, tick
    )


def _numbered(
    problem: Problem,
    chain: int,
    nodes: list[Node],
    singles: list[Node],
    spaces: dict[int, StateSpace],
    tick: int,
) -> Lattice:
    """Put the machines in the order of their spaces, and tie the classes together."""
    place = {resource: number for number, resource in enumerate(spaces)}
    machines = tuple(
        Machine(resource, tuple(i for i, node in enumerate(nodes) if node.machine == resource), space)
        for resource, space in spaces.items()
    )
    everything = tuple(replace(node, machine=place[node.machine]) for node in nodes) + tuple(singles)
    width = max(node.count for node in everything)
    resources = [node.machine for node in nodes]
    resources += [int(problem.operations.resource[node.members[0]]) for node in singles]
    if max(node.duration for node in everything) > LARGEST_TIME:
        resources = [-1] * len(resources)
    return Lattice(
        tick,
        everything,
        chain,
        machines,
        sum(resource >= len(problem.devices) for resource in spaces),
        problem.microbatches,
        width,
        links_of(problem, everything, tick),
        hours_of(problem, resources, tick),
        _due(problem, everything, width, tick),
    )


def _due(problem: Problem, nodes: Sequence[Node], width: int, tick: int) -> IntArray | None:
    """Latest ends: those of a class in index order, or, sorted, those of its places.

    The k-th to run of n ends no later than the n - k + 1 from there on, whichever they are, so by the k-th smallest
    latest end.
    """
    if problem.due_ns is None:
        return None
    due = np.full((len(nodes), width), NO_DEADLINE, dtype=np.int64)
    for row, node in enumerate(nodes):
        numbers = node.members or [int(n) for stage in node.stages for n in problem.numbers[node.kind, 0, stage]]
        due[row, : node.count] = np.sort(problem.due_ns[np.array(numbers, dtype=np.int64)])
    return np.where(due == NO_DEADLINE, NO_DEADLINE, due // tick)


def starts_of(lattice: Lattice) -> IntArray:
    """Earliest start of each chain node for microbatch 0 on an empty system, in ticks."""
    lags = [node.lag for node in lattice.nodes[: lattice.chain - 1]]
    return np.concatenate([[0], np.cumsum(lags)]).astype(np.int64)
