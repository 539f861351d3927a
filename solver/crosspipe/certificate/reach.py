"""How many operations of each class of compute must come before, or after, an operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.certificate.verdict import PYTHON_STEP, RefusedError
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.certificate.verdict import Budget
    from crosspipe.certificate.waits import Edge, Waits
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem

MOST_COUNTS = 10**7
"""Operations x classes that are counted for."""


@dataclass(frozen=True, slots=True)
class Line:
    """One class of compute on a device of the first replica, in index order.

    Attributes
    ----------
    kind, stage, device
        What and where.
    numbers
        Its operations.
    duration
        Of each, ns.
    column
        Its place among all classes.
    """

    kind: Kind
    stage: int
    device: int
    numbers: list[int]
    duration: int
    column: int


def lines_of(problem: Problem, waits: Waits) -> list[Line]:
    """List the classes of compute of the first replica.

    Raises
    ------
    RefusedError
        If the order of one is free, or there are too many to count for.
    """
    found: list[Line] = []
    for number, device in enumerate(problem.devices[: problem.devices_per_replica]):
        for kind in (Kind.F, Kind.B, Kind.BW, Kind.W):
            for stage in sorted(device.stages):
                numbers = problem.numbers[kind, 0, stage].tolist()
                if numbers[0] < 0:
                    continue
                if waits.ordered.get((int(kind), 0, stage, 0)) != numbers:
                    raise RefusedError(f"the order of stage {stage} is free")
                duration = int(problem.operations.duration_ns[numbers[0]])
                found.append(Line(kind, stage, number, numbers, duration, len(found)))
    if len(problem.operations) * len(found) > MOST_COUNTS:
        raise RefusedError("there are too many operations to count what comes before each")
    return found


def counts(lines: Sequence[Line], waits: Waits, budget: Budget, *, after: bool) -> IntArray:
    """Count by operation and class what must come before it, the first so many; or `after` it, the last so many."""
    table: list[list[Edge]] = waits.after if after else waits.before
    size = len(waits.topological)
    budget.spend(4 * PYTHON_STEP * size + 8 * size * len(lines))
    own: dict[int, tuple[int, int]] = {}
    for line in lines:
        for place, number in enumerate(line.numbers):
            own[number] = line.column, len(line.numbers) - place if after else place + 1
    found = np.zeros((size, len(lines)), dtype=np.int64)
    for number in reversed(waits.topological) if after else waits.topological:
        row = found[number]
        for other, _ in table[number]:
            np.maximum(row, found[other], out=row)
        for other, _ in table[number]:
            if other in own:
                column, count = own[other]
                row[column] = max(row[column], count)
    return found
