"""Large-neighbourhood move: all operations that start in a time window are ordered anew, the rest keeps its order.

What starts before the window is fixed and releases what follows it. What starts after it keeps its order and is folded
into tails: tail(v) is the longest path from the end of v through the later part, entered by a precedence or by the
first later operation of v's resource. The makespan is then exactly the largest end + tail over the window, or a path
that does not meet the window. Amounts held when the window begins, and those still held when it ends, follow from the
counts alone. The orders that result are before | window by start | after on each resource; they are replayed by the
caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from crosspipe.schedule.graph import Graph
from crosspipe.schedule.orders import Orders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crosspipe.problem.problem import IntArray, Problem
    from crosspipe.schedule.orders import Schedule

EQUAL_WEIGHT = 10**5
"""Weight of the makespan against the sum of weighted starts in a move that may keep the value."""


@dataclass(frozen=True, slots=True)
class Move:
    """One neighbourhood.

    Attributes
    ----------
    start_ns, end_ns
        Operations that start in [start_ns, end_ns) are ordered anew.
    devices
        Devices whose order is open; on the others the window's operations keep theirs. None = all.
    equal
        Whether a schedule of equal value will do: it moves along plateaus.
    """

    start_ns: int
    end_ns: int
    devices: frozenset[int] | None
    equal: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """What became of a move: better (or equal) orders, a proof that there are none, or neither in time."""

    orders: Orders | None
    proved_useless: bool


class WindowModel:
    """One move on one schedule; times in ticks from the window's begin."""

    def __init__(self, problem: Problem, schedule: Schedule, move: Move, tick_ns: int) -> None:
        self._problem, self._schedule, self._move, self._tick = problem, schedule, move, tick_ns
        self._origin = move.start_ns
        self._graph = Graph(problem, schedule.orders)
        start = schedule.start_ns
        self._inside = np.flatnonzero((start >= move.start_ns) & (start < move.end_ns)).tolist()
        self._after = start >= move.end_ns
        self._before = start < move.start_ns
        self._value_ns = int(schedule.end_ns.max())
        self._rng = np.random.default_rng(int(move.start_ns) & 0xFFFFFFFF)

    def solve(self, time_s: float, seed: int, should_stop: Callable[[], bool]) -> Moved:
        """Look for a better order of the window."""
        tail = self._tails()
        ceiling = self._value_ns if self._move.equal else self._value_ns - self._tick
        if self._fixed_path(tail) > ceiling:
            return Moved(None, proved_useless=True)
        model = cp_model.CpModel()
        starts = self._starts(model, tail, ceiling)
        if starts is None:
            return Moved(None, proved_useless=True)
        self._order(model, starts)
        self._hold(model, starts)
        self._objective(model, starts, tail, ceiling)
        for operation, variable in starts.items():
            model.add_hint(variable, (int(self._schedule.start_ns[operation]) - self._origin) // self._tick)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = seed
        solver.parameters.max_time_in_seconds = time_s
        if should_stop():
            return Moved(None, proved_useless=False)
        status = solver.solve(model)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Moved(self._orders({v: solver.value(x) for v, x in starts.items()}), proved_useless=False)
        return Moved(None, proved_useless=status == cp_model.INFEASIBLE)

    def _tails(self) -> dict[int, int]:
        """Tail of each window operation, and of each later one its duration included, in nanoseconds."""
        duration = self._problem.operations.duration_ns
        order = np.argsort(-self._schedule.end_ns, kind="stable")
        through: dict[int, int] = {}
        later = [v for v in order.tolist() if self._after[v]]
        for v in sorted(later, key=lambda v: (-int(self._schedule.start_ns[v]), -int(self._schedule.end_ns[v]))):
            rest = max((lag + through[w] for w, lag in self._graph.successors[v] if w in through), default=0)
            through[v] = int(duration[v]) + rest
        tail = dict(through)
        first = {
            resource: next((int(v) for v in sequence if self._after[v]), None)
            for resource, sequence in enumerate(self._schedule.orders.sequences)
        }
        for v in self._inside:
            rest = max((lag + through[w] for w, lag in self._graph.successors[v] if w in through), default=0)
            resource = int(self._problem.operations.resource[v])
            after = first.get(resource)
            tail[v] = max(rest, through[after] if after is not None else 0)
        return tail

    def _fixed_path(self, tail: dict[int, int]) -> int:
        """Longest path that does not meet the window."""
        longest = 0
        for u in np.flatnonzero(self._before).tolist():
            end = int(self._schedule.end_ns[u])
            rest = max((lag + tail[w] for w, lag in self._graph.successors[u] if self._after[w]), default=0)
            longest = max(longest, end + rest)
        return longest

    def _starts(self, model: cp_model.CpModel, tail: dict[int, int], ceiling: int) -> dict[int, cp_model.IntVar] | None:
        release = dict.fromkeys(self._inside, self._origin)
        for u in np.flatnonzero(self._before).tolist():
            for w, lag in self._graph.successors[u]:
                if w in release:
                    release[w] = max(release[w], int(self._schedule.end_ns[u]) + lag)
        for sequence in self._schedule.orders.sequences:
            done = sequence[self._before[sequence]]
            if len(done):
                for v in sequence.tolist():
                    if v in release:
                        release[v] = max(release[v], int(self._schedule.end_ns[done[-1]]))
        starts = {}
        for v in self._inside:
            low = -(-(release[v] - self._origin) // self._tick)
            high = (ceiling - tail[v] - int(self._problem.operations.duration_ns[v]) - self._origin) // self._tick
            if low > high:
                return None
            starts[v] = model.new_int_var(low, high, "")
        return starts

    def _ticks(self, operation: int) -> int:
        return int(self._problem.operations.duration_ns[operation]) // self._tick

    def _order(self, model: cp_model.CpModel, starts: dict[int, cp_model.IntVar]) -> None:
        precedences = self._problem.precedences
        inside = np.zeros(len(self._problem.operations), dtype=bool)
        inside[self._inside] = True
        rows = np.flatnonzero(inside[precedences.before] & inside[precedences.after])
        for u, v, lag in zip(
            precedences.before[rows].tolist(),
            precedences.after[rows].tolist(),
            precedences.lag_ns[rows].tolist(),
            strict=True,
        ):
            model.add(starts[v] >= starts[u] + self._ticks(u) + lag // self._tick)
        for resource, sequence in enumerate(self._schedule.orders.sequences):
            row = [v for v in sequence.tolist() if inside[v]]
            if self._kept(resource):
                self._in_turn(model, starts, row)
            elif len(row) > 1:
                model.add_no_overlap([model.new_fixed_size_interval_var(starts[v], self._ticks(v), "") for v in row])
        for chain in self._problem.chains:
            self._in_turn(model, starts, [v for v in chain.tolist() if inside[v]])

    def _kept(self, resource: int) -> bool:
        devices = self._move.devices
        return devices is not None and resource < len(self._problem.devices) and resource not in devices

    def _in_turn(self, model: cp_model.CpModel, starts: dict[int, cp_model.IntVar], row: Iterable[int]) -> None:
        previous: int | None = None
        for v in row:
            if previous is not None:
                model.add(starts[v] >= starts[previous] + self._ticks(previous))
            previous = v

    def _hold(self, model: cp_model.CpModel, starts: dict[int, cp_model.IntVar]) -> None:
        """Keep every pool within its capacity while the window runs."""
        holdings, pools = self._problem.holdings, self._problem.pools
        intervals: dict[int, list[tuple[cp_model.IntervalVar, int]]] = {}
        level = [pool.base for pool in pools]
        far = 2 * (self._value_ns // self._tick + 1)
        columns = (holdings.pool, holdings.taken_by, holdings.given_by, holdings.amount)
        for pool, taken, given, amount in zip(*(c.tolist() for c in columns), strict=True):
            if amount == 0 or pools[pool].capacity is None or self._after[taken] or self._before[given]:
                continue
            if taken not in starts and given not in starts:
                level[pool] += amount
                continue
            begin = starts.get(taken, 0)
            end = starts[given] + self._ticks(given) if given in starts else far
            size = model.new_int_var(0, far, "")
            intervals.setdefault(pool, []).append((model.new_interval_var(begin, size, end, ""), amount))
        for pool, rows in intervals.items():
            room = (pools[pool].capacity or 0) - level[pool]
            if sum(amount for _, amount in rows) > room:
                model.add_cumulative([interval for interval, _ in rows], [amount for _, amount in rows], room)

    def _objective(
        self, model: cp_model.CpModel, starts: dict[int, cp_model.IntVar], tail: dict[int, int], ceiling: int
    ) -> None:
        largest = (ceiling - self._origin) // self._tick
        makespan = model.new_int_var(0, max(0, largest), "")
        for v, variable in starts.items():
            model.add(makespan >= variable + self._ticks(v) + -(-tail[v] // self._tick))
        if self._move.equal:
            weights = self._rng.integers(0, 10, len(starts)).tolist()
            spread = sum(weight * variable for weight, variable in zip(weights, starts.values(), strict=True))
            model.minimize(EQUAL_WEIGHT * makespan + spread)
        else:
            model.minimize(makespan)

    def _orders(self, starts: dict[int, int]) -> Orders:
        sequences: list[IntArray] = []
        for sequence in self._schedule.orders.sequences:
            row = sequence.tolist()
            window = sorted((v for v in row if v in starts), key=lambda v: (starts[v], starts[v] + self._ticks(v)))
            before = [v for v in row if self._before[v]]
            after = [v for v in row if self._after[v]]
            sequences.append(np.array([*before, *window, *after], dtype=np.int64))
        return Orders(tuple(sequences), self._schedule.orders.recomputed)
