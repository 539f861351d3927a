"""One trainable stage as the closed forms see it: identical microbatches, so one time per kind and one amount."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.bounds.memory_order import gradients_flow, held_below, ordered_classes
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.bounds.graph import Graph


@dataclass(frozen=True, slots=True)
class StageFacts:
    """Numbers of one stage under one pool.

    Attributes
    ----------
    pool, device, stage, replica
        Numbers.
    microbatches
        Of the replica.
    forward_ns, backward_ns, weight_ns
        Durations of F, of B or BW, of W (0 if there is none).
    round_trip_ns
        Least time from the start of F to the start of the backward of the same microbatch: down the later stages and
        back.
    room
        What the pool can hold beside static memory.
    activation, released
        What F takes; what of it the end of the backward gives back at least (less what the backward took for W; may be
        negative).
    released_by_weight
        What W gives back.
    most
        Most microbatches between the start of their F and the end of their backward: K.
    first_backward, last_backward
        Operation numbers.
    """

    pool: int
    device: int
    stage: int
    replica: int
    microbatches: int
    forward_ns: int
    backward_ns: int
    weight_ns: int
    round_trip_ns: int
    room: int
    activation: int
    released: int
    released_by_weight: int
    most: int
    first_backward: int
    last_backward: int


def stage_facts(graph: Graph) -> tuple[StageFacts, ...]:
    """Collect the facts of every stage under every limited pool.

    Empty unless microbatches are identical, may be taken in index order, and gradients flow from the last stage to the
    first trainable one. A pool that does not hold a single microbatch is left out: that is an obstacle, not a bound.
    """
    problem = graph.problem
    if not problem.identical or not gradients_flow(problem):
        return ()
    ordered = ordered_classes(problem)
    trips = [round_trips(graph, replica) for replica in range(problem.replicas)]
    found = []
    for memory in graph.memories:
        stage, replica, kind = memory.stage, memory.replica, memory.backward
        if kind is None or memory.room is None or not memory.takes_time[Kind.F].all():
            continue
        single = problem.microbatches == 1
        if not single and not {(Kind.F, replica, stage), (kind, replica, stage)} <= ordered:
            continue
        same_pool = [other for other in graph.memories if other.pool == memory.pool]
        waiting = int(held_below(same_pool, memory)[0])
        if waiting == 0 or waiting > memory.room:
            continue
        until_weight, extra = int(memory.until_weight[0]), int(memory.extra_until_weight[0])
        weight = problem.number(Kind.W, stage, 0, replica)
        forwards, backwards = problem.numbers[Kind.F, replica, stage], problem.numbers[kind, replica, stage]
        found.append(
            StageFacts(
                pool=memory.pool,
                device=memory.device,
                stage=stage,
                replica=replica,
                microbatches=problem.microbatches,
                forward_ns=int(graph.durations[forwards[0]]),
                backward_ns=int(graph.durations[backwards[0]]),
                weight_ns=0 if weight is None else int(graph.durations[weight]),
                round_trip_ns=trips[replica][stage],
                room=memory.room,
                activation=int(memory.activation[0]),
                released=int(memory.until_backward[0]) - extra,
                released_by_weight=until_weight + extra,
                most=memory.room // waiting,
                first_backward=int(backwards[0]),
                last_backward=int(backwards[-1]),
            )
        )
    return tuple(found)


def round_trips(graph: Graph, replica: int) -> dict[int, int]:
    """Least time from the start of F to the start of the backward, per trainable stage, along microbatch 0 alone."""
    problem = graph.problem
    trips: dict[int, int] = {}
    for stage in range(len(problem.stages) - 1, -1, -1):
        backward = _backward(graph, stage, replica)
        if backward is None:
            break
        forward = int(problem.numbers[Kind.F, replica, stage, 0])
        trips[stage] = int(graph.durations[forward])
        if stage + 1 in trips:
            upper, lower = int(problem.numbers[Kind.F, replica, stage + 1, 0]), _backward(graph, stage + 1, replica)
            down = _passage(graph, forward, upper, Kind.ACTIVATION, stage, replica)
            back = 0 if lower is None else _passage(graph, lower, backward, Kind.GRADIENT, stage, replica)
            trips[stage] = max(trips[stage], down + trips[stage + 1] + back)
    return trips


def _backward(graph: Graph, stage: int, replica: int) -> int | None:
    problem = graph.problem
    found = problem.number(Kind.B, stage, 0, replica)
    return problem.number(Kind.BW, stage, 0, replica) if found is None else found


def _passage(graph: Graph, sender: int, receiver: int, kind: Kind, boundary: int, replica: int) -> int:
    """Least time from the start of one operation to the start of the neighbour that takes its message."""
    way = (sender, *graph.problem.transfers(kind, boundary, 0, replica), receiver)
    return sum(int(graph.durations[before]) + _lag(graph, before, after) for before, after in pairwise(way))


def _lag(graph: Graph, before: int, after: int) -> int:
    edges = graph.edges_into(after)
    return max((int(graph.lag[e]) for e in edges.tolist() if graph.before[e] == before), default=0)
