"""The best schedule of a tiny problem by trying every order: no solver, no bound from elsewhere, no assumption.

A schedule that starts everything as early as its orders allow is found by placing operations one after the other, in
order of start: each as early as what it needs, its device or lane, and the lane's windows allow. So trying every
operation that may come next, again and again, meets every order. What cannot beat the best so far is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.problem.operations import NO_DEADLINE, NO_RESOURCE, Kind

if TYPE_CHECKING:
    from crosspipe.problem.links import Window
    from crosspipe.problem.problem import Problem


@dataclass
class BruteForce:
    """All schedules of a problem.

    Attributes
    ----------
    problem
        Recompute options applied; lanes without slower windows.
    in_index_order
        Whether only schedules that keep every class in index order are tried.
    span
        Whether the span is wanted and not the makespan; then there may be no windows.
    """

    problem: Problem
    in_index_order: bool = False
    span: bool = False
    best: int | None = None
    _starts: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Turn arrays into lists that are quick to walk."""
        problem, ops = self.problem, self.problem.operations
        self._count = len(ops)
        self._duration = ops.duration_ns.tolist()
        self._resource = ops.resource.tolist()
        self._needs: list[list[tuple[int, int]]] = [[] for _ in range(self._count)]
        self._feeds: list[list[tuple[int, int]]] = [[] for _ in range(self._count)]
        links = problem.precedences
        for before, after, lag in zip(links.before.tolist(), links.after.tolist(), links.lag_ns.tolist(), strict=True):
            self._needs[after].append((before, lag))
            self._feeds[before].append((after, lag))
        self._ahead = [-1] * self._count
        if self.in_index_order or problem.chains_required:
            for chain in problem.chains:
                for before, after in zip(chain[:-1].tolist(), chain[1:].tolist(), strict=True):
                    self._ahead[after] = before
        self._takes: list[list[tuple[int, int]]] = [[] for _ in range(self._count)]
        self._gives: list[list[tuple[int, int]]] = [[] for _ in range(self._count)]
        held = problem.holdings
        for pool, taker, giver, amount in zip(
            held.pool.tolist(), held.taken_by.tolist(), held.given_by.tolist(), held.amount.tolist(), strict=True
        ):
            self._takes[taker].append((pool, amount))
            self._gives[giver].append((pool, amount))
        self._after = self._tails()
        self._due = [NO_DEADLINE] * self._count if problem.due_ns is None else problem.due_ns.tolist()

    def _tails(self) -> list[int]:
        """Time that passes at least after each operation, by what it feeds."""
        tails = [0] * self._count
        for _ in range(self._count):
            for op, feeds in enumerate(self._feeds):
                tails[op] = max([tails[op], *(lag + self._duration[x] + tails[x] for x, lag in feeds)])
        return tails

    def solve(self) -> int | None:
        """Value of the best schedule, None if there is none."""
        levels = [pool.base for pool in self.problem.pools]
        if all(self._within(pool, level) for pool, level in enumerate(levels)):
            self._place(0, levels, [0] * self.problem.resources, [[] for _ in range(self.problem.resources)])
        return self.best

    def _within(self, pool: int, level: int) -> bool:
        capacity = self.problem.pools[pool].capacity
        return capacity is None or level <= capacity

    def _place(self, now: int, levels: list[int], free: list[int], orders: list[list[int]]) -> None:
        starts = self._starts
        if len(starts) == self._count:
            self._finish(orders)
            return
        if not self.span and self.best is not None and self._least(free) >= self.best:
            return
        for op in range(self._count):
            if op in starts or any(before not in starts for before, _ in self._needs[op]):
                continue
            if self._ahead[op] >= 0 and self._ahead[op] not in starts:
                continue
            start = max([0, *(starts[x] + self._duration[x] + lag for x, lag in self._needs[op])])
            if self._ahead[op] >= 0:
                start = max(start, starts[self._ahead[op]])
            resource = self._resource[op]
            if resource != NO_RESOURCE:
                start = max(start, free[resource])
                found = self._open(resource, start, self._duration[op])
                if found is None:
                    continue
                start = found
            end = start + self._duration[op]
            if start < now or end > self._due[op]:
                continue
            if not self.span and self.best is not None and end + self._after[op] >= self.best:
                continue
            after = self._levels(op, levels)
            if after is None:
                continue
            starts[op] = start
            before = free[resource] if resource != NO_RESOURCE else 0
            if resource != NO_RESOURCE:
                free[resource] = end
                orders[resource].append(op)
            self._place(start, after, free, orders)
            if resource != NO_RESOURCE:
                free[resource] = before
                orders[resource].pop()
            del starts[op]

    def _least(self, free: list[int]) -> int:
        """End of the resource that has most left to do, if it never waits."""
        ends = list(free)
        for op, resource in enumerate(self._resource):
            if resource != NO_RESOURCE and op not in self._starts:
                ends[resource] += self._duration[op]
        return max(ends)

    def _levels(self, op: int, levels: list[int]) -> list[int] | None:
        """Amounts held once the operation has ended, None if it does not fit; its device does one thing at a time."""
        if not self._takes[op] and not self._gives[op]:
            return levels
        levels = list(levels)
        for pool, amount in self._takes[op]:
            levels[pool] += amount
        if not all(self._within(pool, levels[pool]) for pool, _ in self._takes[op]):
            return None
        for pool, amount in self._gives[op]:
            levels[pool] -= amount
        return levels

    def _open(self, resource: int, start: int, duration: int) -> int | None:
        """Earliest start at which the lane is open for the whole duration, None if it never is."""
        devices = len(self.problem.devices)
        windows = () if resource < devices else self.problem.lanes[resource - devices].windows
        limit = start + sum((w.period_ns or 0) + (w.end_ns or 0) + w.start_ns for w in windows) + 1
        while windows and start < limit:
            blocked = [end for w in windows if (end := _met(w, start, start + duration)) is not None]
            if not blocked:
                return start
            start = max(blocked)
        return None if windows else start

    def _finish(self, orders: list[list[int]]) -> None:
        if not self.span:
            value = max(start + self._duration[op] for op, start in self._starts.items())
            if self.best is None or value < self.best:
                self.best = value
            return
        if self.best is None:
            self.best = sum(self._duration) + sum(lag for needs in self._needs for _, lag in needs) + 1
        if not self._possible(orders, self.best - 1):
            return
        low, high = 0, self.best - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._possible(orders, middle) else (middle + 1, high)
        self.best = high

    def _possible(self, orders: list[list[int]], span: int) -> bool:
        """Whether the orders allow no device to be held for longer than `span`: no circle of positive length."""
        kind = self.problem.operations.kind
        arcs = [(x, op, self._duration[x] + lag) for op, needs in enumerate(self._needs) for x, lag in needs]
        for resource, order in enumerate(orders):
            arcs += [(x, y, self._duration[x]) for x, y in pairwise(order)]
            compute = [op for op in order if kind[op] <= Kind.BW]
            if resource < len(self.problem.devices) and compute:
                arcs.append((compute[-1], compute[0], self._duration[compute[-1]] - span))
        reach = [0] * self._count
        for _ in range(self._count + 1):
            moved = False
            for x, y, length in arcs:
                if reach[x] + length > reach[y]:
                    reach[y], moved = reach[x] + length, True
            if not moved:
                return True
        return False


def _met(window: Window, start: int, end: int) -> int | None:
    """End of the closed interval of a window that `[start, end)` meets first, None if it meets none."""
    assert window.rate_bps == 0
    if window.period_ns is None:
        closes = window.end_ns if window.end_ns is not None else 10**18
        return closes if start < closes and window.start_ns < end else None
    assert window.end_ns is not None
    for turn in range(start // window.period_ns, end // window.period_ns + 1):
        at = turn * window.period_ns
        if start < at + window.end_ns and at + window.start_ns < end:
            return at + window.end_ns
    return None
