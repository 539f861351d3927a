"""How many operations of each class must come before, or after, each operation.

Where classes run in index order, what must come before an operation is the first few of every class: one number per
operation and class says it all. The numbers are passed on along the edges of the graph, so they are closed under
precedences, index order and the order that memory forces together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.bounds.graph import Graph, Step
    from crosspipe.problem.operations import IntArray


def reached(graph: Graph, classes: IntArray, *, backward: bool = False) -> NDArray[np.int32]:
    """Count what comes before each operation: its first so many of each class; its last so many after it if `backward`.

    `classes` has a row of operation numbers per class, in index order; the result has a row per operation and a column
    per class.
    """
    count, width = classes.shape
    before = np.zeros((len(graph.durations), count), dtype=np.int32)
    own = np.zeros_like(before)
    places = np.arange(width, dtype=np.int32)
    own[classes, np.arange(count)[:, None]] = width - places if backward else places + 1
    steps: tuple[Step, ...] = graph.backward if backward else graph.forward
    for step in steps:
        both = np.maximum(before[step.others], own[step.others])
        before[step.targets] = np.maximum(before[step.targets], np.maximum.reduceat(both, step.offsets, axis=0))
    return before
