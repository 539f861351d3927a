"""Round trips in a row: with room for K microbatches, every K-th waits for the one K before.

Stage s, K as in `memory_order.py`: F(j + K) starts after the end of the backward of j, and the backward of j + K no
earlier than one round trip after that start. So the backward of microbatch i K starts no earlier than `R + i (round
trip + B)`, and the last such i is floor((m - 1) / K); then come its duration and its tail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.bounds.bound import Bound

if TYPE_CHECKING:
    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.pipeline import StageFacts
    from crosspipe.bounds.timing import Timing


def round_trip(graph: Graph, timing: Timing, fact: StageFacts) -> Bound | None:
    """Bound by round trips of a stage; None where memory holds all microbatches at once.

    Data: `first_backward_ns + turns * (round_trip_ns + backward_ns) + backward_ns + tail_ns` is the value.
    """
    turns = (fact.microbatches - 1) // fact.most
    if turns == 0:
        return None
    first_backward = int(timing.head[fact.first_backward])
    tail = int(timing.tail[fact.last_backward])
    data: dict[str, object] = {
        "resource": fact.device,
        "stage": fact.stage,
        "first_backward_ns": first_backward,
        "turns": turns,
        "in_flight": fact.most,
        "round_trip_ns": fact.round_trip_ns,
        "backward_ns": fact.backward_ns,
        "tail_ns": tail,
    }
    value = first_backward + turns * (fact.round_trip_ns + fact.backward_ns) + fact.backward_ns + tail
    return Bound(value, "round trip", graph.problem.resource_name(fact.device), data)
