"""Large-neighbourhood move: all operations that start in a time window are ordered anew, the rest keeps its order.

What lies before and after the window enters through releases and tails (`window_frame.py`), so the makespan or span is
exactly the largest end + tail over the window; deadlines and windows of lanes set latest ends besides
(`window_latest.py`). Amounts held when the window begins, and those still held when it ends,
follow from the counts alone. The precedences that memory implies (`memory_order.py`) are added where classes run in
index order: far stronger than the cumulative. The orders that result are before | window by start | after on each
resource; they are replayed by the caller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from crosspipe.model.memory_order import memory_arcs
from crosspipe.model.ticks import to_ticks
from crosspipe.model.window_frame import NEVER, Frame
from crosspipe.model.window_latest import LatestEnds
from crosspipe.model.windows import closed_ns
from crosspipe.problem.problem import Objective
from crosspipe.problem.step import step_ns
from crosspipe.schedule.orders import Orders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

EQUAL_WEIGHT = 10**5
"""Weight of the value against the sum of weighted starts in a move that may keep the value."""

FAR = 2**60
"""Later than any end."""

LARGEST = 2**40
"""Most ticks of a problem whose precedences by memory are asked for: they are read, not solved, so few will do."""

Starts = dict[int, cp_model.IntVar]
"""Start of each window operation, in ticks from the window's begin."""


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


class Moves:
    """Moves on schedules of one problem, for one objective.

    Transfers are moved as if lanes were only closed or open at their full rate; where they are slower it is left to the
    replay to say what a move is worth.
    """

    def __init__(self, problem: Problem, objective: Objective) -> None:
        self._problem, self._objective = problem, objective
        self._tick = step_ns(problem)
        self._latest = LatestEnds(problem)
        implied = memory_arcs(to_ticks(problem, objective, None, LARGEST))
        self._waits = list(zip(implied.before.tolist(), implied.after.tolist(), strict=True))

    def make(self, schedule: Schedule, move: Move, limits: tuple[float, int], should_stop: Callable[[], bool]) -> Moved:
        """Look for a better order of a window; `limits` are seconds and the seed."""
        frame = Frame(self._problem, schedule, self._objective, (move.start_ns, move.end_ns))
        window = _Window(self._problem, schedule, move, frame, self._tick)
        ceiling = frame.value_ns if move.equal else frame.value_ns - self._tick
        latest: dict[int, int] = {}
        if self._latest.needed:
            # The span is no time of day: only deadlines and the lanes' last openings count then.
            limit_ns = ceiling if self._objective is Objective.MAKESPAN else FAR
            latest = self._latest.inside(schedule, frame, limit_ns)
        starts = window.starts(ceiling, latest) if frame.fixed_ns <= ceiling else None
        if starts is None:
            return Moved(None, proved_useless=True)
        window.order(starts, self._waits)
        window.hold(starts)
        window.aim(starts, ceiling)
        if should_stop():
            return Moved(None, proved_useless=False)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = 0
        solver.parameters.max_time_in_seconds, solver.parameters.random_seed = limits
        status = solver.solve(window.model)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Moved(window.orders({v: solver.value(x) for v, x in starts.items()}), proved_useless=False)
        return Moved(None, proved_useless=status == cp_model.INFEASIBLE)


class _Window:
    """The CP-SAT model of one move."""

    def __init__(self, problem: Problem, schedule: Schedule, move: Move, frame: Frame, tick_ns: int) -> None:
        self._problem, self._schedule, self._move, self._tick = problem, schedule, move, tick_ns
        self._frame = frame
        self._origin = move.start_ns
        self._duration: list[int] = (problem.operations.duration_ns // tick_ns).tolist()
        self.model = cp_model.CpModel()

    def starts(self, ceiling: int, latest_end: dict[int, int]) -> Starts | None:
        """Make the starts, hinted at those of the schedule; None if one has no room below the ceiling."""
        starts: Starts = {}
        for v in self._frame.inside:
            tail = max(self._frame.tail[v], -ceiling)
            low = -(-(self._frame.release[v] - self._origin) // self._tick)
            end = min(ceiling - tail, latest_end.get(v, FAR))
            high = (end - self._origin) // self._tick - self._duration[v]
            if low > high:
                return None
            starts[v] = self.model.new_int_var(low, high, "")
            self.model.add_hint(starts[v], (int(self._schedule.start_ns[v]) - self._origin) // self._tick)
        return starts

    def order(self, starts: Starts, waits: Iterable[tuple[int, int]]) -> None:
        """Keep precedences, one operation at a time per resource, chains, and the waits that memory implies."""
        arcs = self._problem.precedences
        inside = self._frame.is_inside
        rows = np.flatnonzero(inside[arcs.before] & inside[arcs.after])
        columns = (arcs.before[rows].tolist(), arcs.after[rows].tolist(), (arcs.lag_ns[rows] // self._tick).tolist())
        for u, v, lag in zip(*columns, strict=True):
            self.model.add(starts[v] >= starts[u] + (self._duration[u] + lag))
        for u, v in waits:
            if u in starts and v in starts:
                self.model.add(starts[v] >= starts[u] + self._duration[u])
        for resource, sequence in enumerate(self._schedule.orders.sequences):
            row = sequence[inside[sequence]].tolist()
            if self._kept(resource):
                self._in_turn(starts, row)
                continue
            intervals = [self.model.new_fixed_size_interval_var(starts[v], self._duration[v], "") for v in row]
            intervals += self._closed(resource, row)
            if len(intervals) > 1:
                self.model.add_no_overlap(intervals)
        for chain in self._problem.chains:
            self._in_turn(starts, chain[inside[chain]].tolist())

    def _closed(self, resource: int, row: list[int]) -> list[cp_model.IntervalVar]:
        """Make fixed intervals in which the lane is closed, from the window's begin on."""
        number = resource - len(self._problem.devices)
        if number < 0 or not row or not self._problem.lanes[number].windows:
            return []
        horizon_ns = int(self._schedule.end_ns.max()) + 1
        shortest_ns = int(self._problem.operations.duration_ns[row].min())
        made = []
        for start, end in closed_ns(self._problem.lanes[number], horizon_ns, shortest_ns) or ():
            first, last = max(start - self._origin, 0) // self._tick, -(-(end - self._origin) // self._tick)
            if first < last:
                made.append(self.model.new_fixed_size_interval_var(first, last - first, ""))
        return made

    def _kept(self, resource: int) -> bool:
        devices = self._move.devices
        return devices is not None and resource < len(self._problem.devices) and resource not in devices

    def _in_turn(self, starts: Starts, row: list[int]) -> None:
        for u, v in pairwise(row):
            self.model.add(starts[v] >= starts[u] + self._duration[u])

    def hold(self, starts: Starts) -> None:
        """Keep every pool within its capacity while the window runs."""
        holdings, pools, frame = self._problem.holdings, self._problem.pools, self._frame
        intervals: dict[int, list[tuple[cp_model.IntervalVar, int]]] = {}
        level = [pool.base for pool in pools]
        far = 2 * (frame.value_ns // self._tick + 1)
        columns = (holdings.pool, holdings.taken_by, holdings.given_by, holdings.amount)
        for pool, taken, given, amount in zip(*(c.tolist() for c in columns), strict=True):
            if amount == 0 or pools[pool].capacity is None or frame.is_after[taken] or frame.is_before[given]:
                continue
            if taken not in starts and given not in starts:
                level[pool] += amount
                continue
            begin = starts.get(taken, 0)
            end = starts[given] + self._duration[given] if given in starts else far
            size = self.model.new_int_var(0, far, "")
            intervals.setdefault(pool, []).append((self.model.new_interval_var(begin, size, end, ""), amount))
        for pool, rows in intervals.items():
            room = (pools[pool].capacity or 0) - level[pool]
            if sum(amount for _, amount in rows) > room:
                scale = math.gcd(*(amount for _, amount in rows))
                demands = [amount // scale for _, amount in rows]
                self.model.add_cumulative([interval for interval, _ in rows], demands, room // scale)

    def aim(self, starts: Starts, ceiling: int) -> None:
        """Minimise the largest end + tail; among equals a random sum of starts, where an equal value will do."""
        value = self.model.new_int_var(0, max(0, (ceiling - self._origin) // self._tick), "")
        for v, start in starts.items():
            if self._frame.tail[v] > NEVER // 2:
                self.model.add(value >= start + (self._duration[v] + -(-self._frame.tail[v] // self._tick)))
        if self._move.equal:
            weights = np.random.default_rng(self._origin & 0xFFFFFFFF).integers(0, 10, len(starts)).tolist()
            spread = sum(weight * start for weight, start in zip(weights, starts.values(), strict=True))
            self.model.minimize(EQUAL_WEIGHT * value + spread)
        else:
            self.model.minimize(value)

    def orders(self, starts: dict[int, int]) -> Orders:
        """Put the orders together again."""
        frame = self._frame
        sequences: list[IntArray] = []
        for sequence in self._schedule.orders.sequences:
            window = sorted(
                sequence[frame.is_inside[sequence]].tolist(), key=lambda v: (starts[v], starts[v] + self._duration[v])
            )
            before, after = sequence[frame.is_before[sequence]], sequence[frame.is_after[sequence]]
            sequences.append(np.concatenate([before, np.array(window, dtype=np.int64), after]))
        return Orders(tuple(sequences), self._schedule.orders.recomputed)
