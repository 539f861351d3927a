"""The longest path: what one microbatch after another must go through, however free the devices are.

Every operation starts at its head or later and leaves at least its tail after its end, so the schedule ends no earlier
than `head + duration + tail` of any operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.bounds.bound import Bound
from crosspipe.bounds.graph import Reason

if TYPE_CHECKING:
    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.timing import Timing


def critical_path(graph: Graph, timing: Timing) -> Bound | None:
    """Bound by the longest path; None if nothing that can be asked for exists.

    Data: the operations of the path, `waits` between neighbours (`precedence`, `order` within a class, `memory`), the
    place in it of the last operation that windows make longer (`turn`, 0 for none), the head of the first one (above 0
    where a load or a window holds it back) and the tail of the last (likewise).
    """
    asked = np.flatnonzero(timing.tail >= 0)
    if not len(asked):
        return None
    lengths = timing.finish[asked] + timing.tail[asked]
    middle = int(asked[int(lengths.argmax())])
    path, waits = [middle], list[Reason]()
    while (step := _cause(graph, timing, path[0])) is not None:
        path.insert(0, step[0])
        waits.insert(0, step[1])
    longer = [place for place, op in enumerate(path) if timing.finish[op] - timing.head[op] > graph.durations[op]]
    turn = max(longer, default=0)
    while (step := _effect(graph, timing, path[-1])) is not None:
        path.append(step[0])
        waits.append(step[1])
    problem = graph.problem
    return Bound(
        int(lengths.max()),
        "critical path",
        f"{problem.label(path[0])} to {problem.label(path[-1])}",
        {
            "operations": path,
            "waits": [wait.name.lower() for wait in waits],
            "turn": turn,
            "head_ns": int(timing.head[path[0]]),
            "tail_ns": int(timing.tail[path[-1]]),
        },
    )


def _cause(graph: Graph, timing: Timing, operation: int) -> tuple[int, Reason] | None:
    """Find the operation whose end sets the head of this one, if one does."""
    for edge in graph.edges_into(operation).tolist():
        if timing.finish[graph.before[edge]] + graph.lag[edge] == timing.head[operation]:
            return int(graph.before[edge]), Reason(int(graph.reason[edge]))
    return None


def _effect(graph: Graph, timing: Timing, operation: int) -> tuple[int, Reason] | None:
    for edge in graph.edges_from(operation).tolist():
        after = int(graph.after[edge])
        if graph.lag[edge] + graph.durations[after] + timing.tail[after] == timing.tail[operation]:
            return after, Reason(int(graph.reason[edge]))
    return None
