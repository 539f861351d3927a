"""From device orders to full orders: each lane serves messages in order of readiness, extras run when ready.

Events are taken in order of time. A message joins its lane's queue the moment it is ready; at equal times gradients go
first, then lower microbatch, stage, replica, leg. An extra operation on a device slips in between two of its operations
as soon as it is ready and the device is free.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import DeadlockError, NeverOpensError
from crosspipe.problem.operations import Kind
from crosspipe.schedule.graph import Graph
from crosspipe.schedule.orders import Orders
from crosspipe.schedule.replay import window_calendars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem

_RANK = {Kind.GRADIENT: 0, Kind.ACTIVATION: 1, Kind.EXTRA: 2}
_COMPUTE = 3


def join_lanes(
    problem: Problem, device_sequences: Sequence[IntArray], recomputed: frozenset[int] = frozenset()
) -> Orders:
    """Complete device orders (compute operations only, one order per device) to full orders.

    Raises
    ------
    DeadlockError
        If the device orders wait for each other in a circle.
    NeverOpensError
        If a message waits for a lane that never again opens for long enough.
    """
    if recomputed and not problem.recomputed:
        problem = problem.recompute(recomputed)
    sequences = _Simulation(problem, device_sequences).run()
    return Orders(tuple(np.array(sequence, dtype=np.int64) for sequence in sequences), recomputed)


class _Simulation:
    def __init__(self, problem: Problem, device_sequences: Sequence[IntArray]) -> None:
        self._problem = problem
        ops = problem.operations
        graph = Graph(problem)
        self._successors, self._waiting = graph.successors, list(graph.entering)
        self._ready = [0] * len(ops)
        self._kind: list[int] = ops.kind.tolist()
        self._duration: list[int] = ops.duration_ns.tolist()
        self._resource: list[int] = ops.resource.tolist()
        tie = (ops.microbatch, ops.stage, ops.replica, ops.leg)
        self._tie = list(zip(*(column.tolist() for column in tie), strict=True))
        self._free = [0] * problem.resources
        self._calendars = window_calendars(problem)
        self._queues = [sequence.tolist() for sequence in device_sequences]
        self._next = [0] * len(self._queues)
        self._sequences: list[list[int]] = [[] for _ in range(problem.resources)]
        self._heap: list[tuple[int, int, tuple[int, ...], int]] = []

    def run(self) -> list[list[int]]:
        for operation, waiting in enumerate(self._waiting):
            if waiting == 0 and not self._queued(operation):
                self._push(operation)
        for device in range(len(self._queues)):
            self._offer(device)
        left = len(self._waiting)
        while self._heap:
            at, _, _, operation = heapq.heappop(self._heap)
            resource = self._resource[operation]
            if 0 <= resource < len(self._queues) and self._free[resource] > at:
                self._push(operation)  # an extra operation slipped in before it
                continue
            left -= 1
            self._finish(operation, resource)
        if left:
            raise DeadlockError("the device orders wait for each other", tuple(self._heads()))
        return self._sequences

    def _queued(self, operation: int) -> bool:
        """Whether the operation has its place in a device order."""
        return self._kind[operation] <= Kind.BW

    def _push(self, operation: int) -> None:
        at, resource = self._ready[operation], self._resource[operation]
        if 0 <= resource < len(self._queues):
            at = max(at, self._free[resource])
        rank = _COMPUTE if self._queued(operation) else _RANK[Kind(self._kind[operation])]
        heapq.heappush(self._heap, (at, rank, self._tie[operation], operation))

    def _offer(self, device: int) -> None:
        """Put the device's next operation up if it waits for nothing but the device."""
        queue, place = self._queues[device], self._next[device]
        if place < len(queue) and self._waiting[queue[place]] == 0:
            self._push(queue[place])

    def _finish(self, operation: int, resource: int) -> None:
        """Run an operation now and tell those that wait for it."""
        start = self._ready[operation]
        if resource >= 0:
            start = max(start, self._free[resource])
            self._sequences[resource].append(operation)
        end = start + self._duration[operation]
        if operation in self._calendars:
            opened = self._calendars[operation].start(start, self._duration[operation])
            if opened is None:
                label = self._problem.label(operation)
                raise NeverOpensError(f"{label} waits for a lane that never opens long enough")
            end = self._calendars[operation].end(opened, self._duration[operation])
        if resource >= 0:
            self._free[resource] = end
        if self._queued(operation):
            self._next[resource] += 1
            self._offer(resource)
        for successor, lag in self._successors[operation]:
            self._ready[successor] = max(self._ready[successor], end + lag)
            self._waiting[successor] -= 1
            if self._waiting[successor] == 0:
                self._release(successor)

    def _release(self, operation: int) -> None:
        if not self._queued(operation):
            self._push(operation)
            return
        device = self._resource[operation]
        queue, place = self._queues[device], self._next[device]
        if place < len(queue) and queue[place] == operation:
            self._push(operation)

    def _heads(self) -> list[int]:
        return [queue[place] for queue, place in zip(self._queues, self._next, strict=True) if place < len(queue)]
