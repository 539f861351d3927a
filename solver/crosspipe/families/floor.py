"""The problem as plain lists: what one pass of list scheduling walks over."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.families.chunk import Chunk
from crosspipe.families.paths import heads_ns, tails_ns
from crosspipe.families.reserve import Changes, Reserve, changes_of
from crosspipe.problem.operations import NO_RESOURCE, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem


@dataclass(slots=True)
class Station:
    """One device: its chunks in stage order, what it holds, and the time scale its rules are measured in.

    Attributes
    ----------
    index
        Device index within its replica.
    unit_ns
        A typical W; half a typical F where no stage has a W.
    reserve
        What its limited pools allow; None if it has none.
    """

    index: int
    chunks: list[Chunk]
    unit_ns: float
    reserve: Reserve | None


@dataclass(slots=True)
class Floor:
    """Plain lists over operation numbers, and one `Station` per device.

    Attributes
    ----------
    duration, resource, kind
        Columns of the operations.
    position
        Place of each operation's microbatch in the order in which microbatches run.
    successors
        Per operation, pairs (operation, lag).
    waits
        Number of predecessors.
    earlier
        Operation before it in a required chain, for messages only; -1 for none. Empty if no chain is required.
    tail
        Per operation, longest way from its end to the end of the step along precedences.
    round_trip
        Of each first microbatch's F: shortest time from its start to the end of its backward.
    period
        Largest work of a device or lane for one microbatch.
    sources
        Operations that wait for nothing.
    on_resources
        Number of operations that occupy a device or lane.
    chunk
        Per compute operation, its chunk's number on its device.
    """

    operations: int
    devices: int
    microbatches: int
    duration: list[int]
    resource: list[int]
    position: list[int]
    kind: list[int]
    successors: list[list[tuple[int, int]]]
    waits: list[int]
    earlier: list[int]
    tail: list[int]
    period: float
    round_trip: dict[int, int]
    sources: list[int]
    on_resources: int
    chunk: list[int]
    stations: list[Station] = field(default_factory=list)


def floor_of(problem: Problem, order: Sequence[int] | None = None) -> Floor:
    """Lay a problem out (its recompute options as applied already), the microbatches in `order` (default: as given).

    Raises
    ------
    DoesNotFitError
        If one microbatch alone does not fit on a device.
    """
    ops = problem.operations
    sequence = np.arange(problem.microbatches) if order is None else np.array(order, dtype=np.int64)
    position = np.argsort(sequence)
    count = len(ops)
    duration, resource = ops.duration_ns.tolist(), ops.resource.tolist()
    successors: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    arcs = problem.precedences
    for before, after, lag in zip(arcs.before.tolist(), arcs.after.tolist(), arcs.lag_ns.tolist(), strict=True):
        successors[before].append((after, lag))
    waits = np.bincount(arcs.after, minlength=count).tolist()
    floor = Floor(
        operations=count,
        devices=len(problem.devices),
        microbatches=problem.microbatches,
        duration=duration,
        resource=resource,
        position=position[ops.microbatch].tolist(),
        kind=ops.kind.tolist(),
        successors=successors,
        waits=waits,
        earlier=_earlier(problem),
        tail=tails_ns(duration, successors, waits),
        period=_period(problem),
        round_trip={},
        sources=[op for op, waiting in enumerate(waits) if not waiting],
        on_resources=int((ops.resource != NO_RESOURCE).sum()),
        chunk=[0] * count,
    )
    changes = changes_of(problem)
    floor.stations = [_station(problem, device, sequence, changes) for device in range(len(problem.devices))]
    heads = heads_ns(duration, successors, waits)
    for station in floor.stations:
        for number, chunk in enumerate(station.chunks):
            for op in (*chunk.forward, *chunk.backward, *chunk.weight):
                floor.chunk[op] = number
            if chunk.backward:
                first, last = chunk.forward[0], chunk.backward[0]
                floor.round_trip[first] = heads[last] + duration[last] - heads[first]
    return floor


def _station(problem: Problem, device: int, sequence: IntArray, changes: Changes) -> Station:
    where = problem.devices[device]
    table = problem.numbers[:, where.replica][:, :, sequence]
    chunks = []
    for stage in where.stages:
        backward = table[Kind.B, stage] if table[Kind.B, stage, 0] >= 0 else table[Kind.BW, stage]
        chunks.append(Chunk(stage, _present(table[Kind.F, stage]), _present(backward), _present(table[Kind.W, stage])))
    durations = problem.operations.duration_ns
    weights = [durations[chunk.weight].mean() for chunk in chunks if chunk.weight]
    halves = [durations[chunk.forward].mean() / 2 for chunk in chunks]
    scale = weights or halves or [0.0]
    return Station(
        index=device % problem.devices_per_replica,
        chunks=chunks,
        unit_ns=float(sum(scale) / len(scale)),
        reserve=Reserve.of(problem, device, chunks, changes),
    )


def _present(row: IntArray) -> list[int]:
    numbers: list[int] = row.tolist()
    return numbers if numbers and numbers[0] >= 0 else []


def _earlier(problem: Problem) -> list[int]:
    if not problem.chains_required:
        return []
    earlier = [-1] * len(problem.operations)
    for chain in problem.chains:
        numbers = chain.tolist()
        if problem.operations.kind[numbers[0]] in (Kind.ACTIVATION, Kind.GRADIENT):
            for first, second in pairwise(numbers):
                earlier[second] = first
    return earlier


def _period(problem: Problem) -> float:
    ops = problem.operations
    busy = (ops.resource != NO_RESOURCE) & (ops.kind != Kind.EXTRA)
    load = np.bincount(ops.resource[busy], weights=ops.duration_ns[busy].astype(float))
    return float(load.max()) / problem.microbatches if len(load) else 0.0
