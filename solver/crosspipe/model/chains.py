"""Order chains: the operations of a class (same stage and kind, or same hop and direction) run in index order.

`start(j+1) >= end(j)` on a device or lane, `start(j+1) >= start(j)` where the class occupies nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.model.arcs import Arcs
from crosspipe.problem.likeness import twins
from crosspipe.problem.operations import NO_RESOURCE

if TYPE_CHECKING:
    from crosspipe.model.ticks import Ticks
    from crosspipe.problem.problem import Problem


def in_order(problem: Problem) -> bool:
    """Tell whether the order chains hold in some optimal schedule, or are required.

    With identical microbatches nothing is lost: give the j-th smallest start of each class (within a replica) to
    microbatch j. The set of intervals of a class, and so devices, lanes, makespan and spans, stay as they were; memory
    depends on counts only; and if `x_j + c <= y_j` for all j, the sorted lists satisfy it too. A deadline survives if
    deadlines do not fall along the class: the j smallest ends are then at most the j-th deadline. Unlike microbatches
    lose by it, so their chains count only where they are required.
    """
    if problem.chains_required:
        return True
    if not problem.identical:
        return False
    due = problem.due_ns
    return due is None or all(bool(np.all(np.diff(due[chain]) >= 0)) for chain in problem.chains)


def chain_arcs(ticks: Ticks) -> Arcs:
    """One arc per pair of neighbours in an order chain; none where chains may not be assumed."""
    chains = ticks.problem.chains if in_order(ticks.problem) else ()
    before = np.concatenate([np.empty(0, dtype=np.int64), *(chain[:-1] for chain in chains)])
    after = np.concatenate([np.empty(0, dtype=np.int64), *(chain[1:] for chain in chains)])
    resource = ticks.problem.operations.resource
    # An empty operation may share the start of the one before it, even on a device.
    waits = (resource[before] == resource[after]) & (resource[before] != NO_RESOURCE) & (ticks.duration[after] > 0)
    return Arcs(before, after, np.where(waits, ticks.duration[before], 0))


def twin_arcs(ticks: Ticks) -> Arcs:
    """One arc per pair of neighbours among extra operations that may be exchanged: in the order of their numbers.

    Nothing is lost: exchanging two of them changes nothing else.
    """
    groups = twins(ticks.problem)
    before = np.array([number for group in groups for number in group[:-1]], dtype=np.int64)
    after = np.array([number for group in groups for number in group[1:]], dtype=np.int64)
    return Arcs(before, after, ticks.duration[before])
