"""Last forward: memory must be given back before it can start.

Stage s, m identical microbatches, room C, activation a, of which the end of the backward gives back d (what it took
for W counted against it) and W gives back w. When the last F starts, its own activation and those of all others are
taken, so b backwards and x weight operations have ended with `x <= b <= m - 1` and `d b + w x >= a m - C`. All of them
lie after R, the head of the first backward. At most K forwards start before R, so at least m - 1 - K others lie there
too. The last F therefore starts no earlier than

    R + min over such (b, x) of (b B + x W) + (m - 1 - K) F.

Then its microbatch takes the round trip, its backward, and the tail of the last backward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.bounds.bound import Bound

if TYPE_CHECKING:
    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.pipeline import StageFacts
    from crosspipe.bounds.timing import Timing


def last_forward(graph: Graph, timing: Timing, fact: StageFacts) -> Bound | None:
    """Bound by the last forward of a stage; None where memory holds all microbatches or can never be given back.

    Data: `first_backward_ns + backwards * backward_ns + weights * weight_ns + forwards * forward_ns + round_trip_ns +
    backward_ns + tail_ns` is the value.
    """
    surplus = fact.activation * fact.microbatches - fact.room
    released = cheapest_release(fact, surplus) if surplus > 0 else None
    if released is None:
        return None
    backwards, weights = released
    forwards = max(0, fact.microbatches - 1 - fact.most)
    first_backward = int(timing.head[fact.first_backward])
    tail = int(timing.tail[fact.last_backward])
    value = (
        first_backward
        + backwards * fact.backward_ns
        + weights * fact.weight_ns
        + forwards * fact.forward_ns
        + fact.round_trip_ns
        + fact.backward_ns
        + tail
    )
    data: dict[str, object] = {
        "resource": fact.device,
        "stage": fact.stage,
        "surplus": surplus,
        "first_backward_ns": first_backward,
        "backwards": backwards,
        "weights": weights,
        "forwards": forwards,
        "backward_ns": fact.backward_ns,
        "weight_ns": fact.weight_ns,
        "forward_ns": fact.forward_ns,
        "round_trip_ns": fact.round_trip_ns,
        "tail_ns": tail,
    }
    return Bound(value, "last forward", graph.problem.resource_name(fact.device), data)


def cheapest_release(fact: StageFacts, surplus: int) -> tuple[int, int] | None:
    """Numbers of backwards and weight operations that give back `surplus` in the least time; None if none do."""
    best: tuple[int, int, int] | None = None
    for backwards in range(fact.microbatches):
        missing = surplus - fact.released * backwards
        weights = 0
        if missing > 0:
            if fact.released_by_weight == 0:
                continue
            weights = -(-missing // fact.released_by_weight)
        if weights > backwards:
            continue
        work = backwards * fact.backward_ns + weights * fact.weight_ns
        if best is None or work < best[0]:
            best = work, backwards, weights
    return None if best is None else best[1:]
