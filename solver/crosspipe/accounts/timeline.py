"""A schedule with every operation as early as its orders allow, and what each waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import NO_RESOURCE, Kind
from crosspipe.schedule.replay import replay

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Orders


@dataclass(frozen=True, slots=True)
class Cause:
    """An operation, and the latency after its end until its message is there."""

    operation: int
    lag_ns: int


class Timeline:
    """Times of the orders, replayed; nothing in them waits without a cause.

    Attributes
    ----------
    problem
        With its recompute options applied.
    start, end
        Per operation, in ns.
    makespan_ns
        Last end.
    """

    def __init__(self, problem: Problem, orders: Orders) -> None:
        self.problem = problem
        self.orders = orders
        schedule = replay(problem, orders)
        self.start: list[int] = schedule.start_ns.tolist()
        self.end: list[int] = schedule.end_ns.tolist()
        self.makespan_ns = max(self.end)
        self._inputs: list[list[Cause]] = [[] for _ in self.start]
        given = problem.precedences
        for before, after, lag in zip(given.before.tolist(), given.after.tolist(), given.lag_ns.tolist(), strict=True):
            self._inputs[after].append(Cause(before, lag))
        self._before = np.full(len(self.start), -1, dtype=np.int64)
        for sequence in orders.sequences:
            self._before[sequence[1:]] = sequence[:-1]

    def kind(self, operation: int) -> Kind:
        """Tell what an operation does."""
        return Kind(int(self.problem.operations.kind[operation]))

    def input(self, operation: int) -> Cause | None:
        """Find the last of what an operation needs from others, the first of equals; None if it needs nothing."""
        inputs = self._inputs[operation]
        return max(inputs, key=self.there_ns, default=None)

    def there_ns(self, cause: Cause) -> int:
        """When a cause is there."""
        return self.end[cause.operation] + cause.lag_ns

    def input_ns(self, operation: int) -> int:
        """When all that an operation needs is there."""
        cause = self.input(operation)
        return 0 if cause is None else self.there_ns(cause)

    def predecessor(self, operation: int) -> int | None:
        """Find what its device or lane does before it."""
        before = int(self._before[operation])
        return None if before < 0 else before

    def ready_ns(self, operation: int) -> int:
        """When an operation could begin if its lane were open."""
        before = self.predecessor(operation)
        return max(self.input_ns(operation), 0 if before is None else self.end[before])

    def place(self, operation: int) -> str:
        """Name the device or lane of an operation; empty for none."""
        resource = int(self.problem.operations.resource[operation])
        return "" if resource == NO_RESOURCE else self.problem.resource_name(resource)

    def link(self, operation: int) -> str:
        """Name the link over which an operation's latency passes: its lane's, or that of the message it sends."""
        problem, kind = self.problem, self.kind(operation)
        resource = int(problem.operations.resource[operation])
        if resource >= len(problem.devices):
            return problem.lanes[resource - len(problem.devices)].channel
        stage = int(problem.operations.stage[operation])
        sent, boundary = (Kind.ACTIVATION, stage) if kind is Kind.F else (Kind.GRADIENT, stage - 1)
        hops = (hop.link for hop in problem.hops if hop.kind is sent and hop.boundary == boundary)
        return next(hops, None) or ""


__all__ = ["Cause", "Timeline"]
