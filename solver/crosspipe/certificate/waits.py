"""Which operation waits for which: what the problem says, the index order of classes, and what memory forces."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.certificate.forced import forced_pairs
from crosspipe.certificate.sequence import microbatches_alike, ordered_classes
from crosspipe.certificate.verdict import PYTHON_STEP, RefusedError

if TYPE_CHECKING:
    from crosspipe.certificate.sequence import ClassKey
    from crosspipe.certificate.verdict import Budget
    from crosspipe.problem.problem import Problem

Edge = tuple[int, int]
"""An operation, and the lag from the end of one to the start of the other."""


class Waits:
    """All waits of a problem: `start(after) >= end(before) + lag`.

    Attributes
    ----------
    given, order, memory
        Largest lag by pair of operations, for each reason.
    alike
        Whether the microbatches are.
    before, after
        For each operation what it waits for and what waits for it, with the lag.
    topological
        All operations, each behind all it waits for.
    """

    def __init__(self, problem: Problem, budget: Budget) -> None:
        count = len(problem.operations)
        budget.spend(3 * PYTHON_STEP * (count + len(problem.precedences) + len(problem.holdings)))
        self.alike = microbatches_alike(problem)
        self.ordered = ordered_classes(problem)
        self.given = _given(problem)
        self.order = _order(problem, self.ordered)
        self.memory = dict.fromkeys(forced_pairs(problem, self.ordered, self.alike), 0)
        self.before: list[list[Edge]] = [[] for _ in range(count)]
        self.after: list[list[Edge]] = [[] for _ in range(count)]
        for table in (self.given, self.order, self.memory):
            for (first, second), lag in table.items():
                self.before[second].append((first, lag))
                self.after[first].append((second, lag))
        self.topological = self._sorted()

    def lag(self, why: str, first: int, second: int) -> int | None:
        """Lag of a wait for the reason named; None if there is no such wait."""
        table = {"precedence": self.given, "order": self.order, "memory": self.memory}.get(why, {})
        return table.get((first, second))

    def _sorted(self) -> list[int]:
        left = [len(edges) for edges in self.before]
        found = [number for number, waiting in enumerate(left) if waiting == 0]
        for number in found:
            for other, _ in self.after[number]:
                left[other] -= 1
                if left[other] == 0:
                    found.append(other)
        if len(found) < len(left):
            raise RefusedError("operations wait for each other in a circle")
        return found


def _given(problem: Problem) -> dict[tuple[int, int], int]:
    waits = problem.precedences
    table: dict[tuple[int, int], int] = {}
    for first, second, lag in zip(waits.before.tolist(), waits.after.tolist(), waits.lag_ns.tolist(), strict=True):
        table[first, second] = max(lag, table.get((first, second), lag))
    return table


def _order(problem: Problem, ordered: dict[ClassKey, list[int]]) -> dict[tuple[int, int], int]:
    """Let each operation of a class that runs in order wait for the one before.

    Starts are in order. On one device or lane nothing overlaps, so the second starts after the end of the first, unless
    the second takes no time and may share the moment of the first one's start.
    """
    duration, resource = problem.operations.duration_ns.tolist(), problem.operations.resource.tolist()
    table: dict[tuple[int, int], int] = {}
    for numbers in ordered.values():
        for first, second in pairwise(numbers):
            apart = resource[first] == resource[second] >= 0 and (duration[second] > 0 or duration[first] == 0)
            table[first, second] = 0 if apart else -duration[first]
    return table
