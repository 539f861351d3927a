"""Windows of single operations, read off the windows of a lattice at a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.lattice.fixpoint import Tables
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem


def start_windows(problem: Problem, tables: Tables, target: int) -> tuple[IntArray, IntArray] | None:
    """Earliest start and least tail (from its end to the target) of each operation, in nanoseconds; None if refuted.

    They hold in every schedule in index order that ends by `target` ticks, like extra operations in the order of their
    numbers. The W's of a device with several stages are
    one class in the lattice, in an order of their own: nothing is said of each.
    """
    windows = tables.stands(target)
    if windows is None:
        return None
    tick = tables.lattice.tick_ns
    earliest = np.zeros(len(problem.operations), dtype=np.int64)
    tail = np.zeros_like(earliest)
    for number, node in enumerate(tables.lattice.nodes):
        if node.kind is Kind.EXTRA:
            if node.machine < 0:
                earliest[node.members[0]] = windows.r[number, 0] * tick
                tail[node.members[0]] = windows.q[number, 0] * tick
            continue
        stage, *others = node.stages
        if node.kind is Kind.W and others:
            continue
        operations = problem.numbers_by_leg[node.leg, node.kind, 0, stage]
        earliest[operations] = windows.r[number, : len(operations)] * tick
        tail[operations] = windows.q[number, : len(operations)] * tick
    return earliest, tail
