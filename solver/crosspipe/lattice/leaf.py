"""The leaf of a dive: what runs in which order where its windows leave one order only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind
from crosspipe.schedule.orders import Orders

if TYPE_CHECKING:
    from crosspipe.lattice.fixpoint import Tables, Windows
    from crosspipe.lattice.machines import Lattice
    from crosspipe.lattice.nodes import Node
    from crosspipe.problem.problem import Problem


def orders_of(problem: Problem, tables: Tables, windows: Windows) -> Orders:
    """Read the orders of a leaf: on each machine its operations by earliest start.

    Of those that start together the empty ones go first, along the chain: they may give back what another needs. Extra
    operations take the places of their class; those that are in none go where they can start.
    """
    lattice = tables.lattice
    sequences: list[list[int]] = [[] for _ in range(problem.resources)]
    single = {node.members[0]: index for index, node in enumerate(lattice.nodes) if _by_itself(node)}
    placed: set[int] = set()
    rows: dict[int, list[tuple[int, int, int, int, int]]] = {}
    for machine in lattice.machines:
        rows[machine.resource] = [
            (int(windows.r[index, j]), lattice.nodes[index].duration, place, index, j)
            for place, index in enumerate(machine.nodes)
            for j in range(lattice.nodes[index].count)
        ]
        placed.update(member for index in machine.nodes for member in lattice.nodes[index].members)
    for member, index in single.items():
        if member not in placed and (resource := int(problem.operations.resource[member])) >= 0:
            row = rows.setdefault(resource, [])
            row.append((int(windows.r[index, 0]), lattice.nodes[index].duration, len(lattice.nodes), index, 0))
    for resource, row in rows.items():
        takers = {
            index: _takers(lattice.nodes[index], lattice, windows, single, windows.r[index].tolist())
            for index in {index for _, _, _, index, _ in row}
        }
        sequences[resource] = _numbers(problem, tables, [(index, j) for _, _, _, index, j in sorted(row)], takers)
    return Orders(tuple(np.array(sequence, dtype=np.int64) for sequence in sequences), problem.recomputed)


def _takers(node: Node, lattice: Lattice, windows: Windows, single: dict[int, int], starts: list[int]) -> list[int]:
    """Give each place of joined extra operations a member: of those that can start by then the most urgent."""
    left = list(node.members)
    taken = []
    for start in starts[: len(left)]:

        def preference(member: int, start: int = start) -> tuple[int, int, int, int]:
            index = single[member]
            early = int(windows.r[index, 0])
            after = int(windows.q[index, 0]) + lattice.nodes[index].duration
            # What cannot start by then comes last: the sooner the better.
            return (0, -after, early, member) if early <= start else (1, early, -after, member)

        member = min(left, key=preference)
        left.remove(member)
        taken.append(member)
    return taken


def _by_itself(node: Node) -> bool:
    return node.kind is Kind.EXTRA and node.machine < 0


def _numbers(problem: Problem, tables: Tables, order: list[tuple[int, int]], takers: dict[int, list[int]]) -> list[int]:
    """Operation numbers of (class, index) pairs; the k-th W is that of the k-th B that is over."""
    over: list[tuple[int, int]] = []
    weights = 0
    numbers = []
    for index, j in order:
        node = tables.lattice.nodes[index]
        if node.kind is Kind.EXTRA:
            numbers.append(takers[index][j])
            continue
        if node.kind is Kind.W:
            stage, microbatch = over[weights]
            weights += 1
        else:
            stage, microbatch = node.stages[0], j
        if node.kind is Kind.B and problem.number(Kind.W, stage, 0) is not None:
            over.append((stage, microbatch))
        numbers.append(int(problem.numbers_by_leg[node.leg, node.kind, 0, stage, microbatch]))
    return numbers
