"""Refuting a target time T: windows of all operations, shrunk machine by machine until nothing moves.

Take any schedule of makespan at most T in which every class is in index order. On each machine its operations follow a
path of count states, and every operation starts at r or later and leaves q after its end. At first r and q follow from
the chain; they are carried along the chain and from one operation of a class to the next, which are waits the schedule
keeps. On one machine, L is the latest time by which a state must be reached so that the rest still fits, E the earliest
at which it can be:

    L(state) = max over the next operation o of  min(L(next), T - q(o)) - duration(o), where that is r(o) or more
    E(next)  = min over the last operation o of  max(E(state), r(o)) + duration(o), where that is in time for L and q

Both run over all paths and times that the windows allow, so the least start and the greatest end of an operation among
them hold for the schedule too. If a machine has no path left, or an operation no start, there is no such schedule.

Between operations nothing is assumed of their order but what a branch of a case split says: "a before b" rules out
states in which b is over and a is not.

Deadlines are tails from the start. On a lane with windows "- duration(o)" stands for the latest start that ends in time
and "+ duration(o)" for the end of the earliest start there is (`hours.py`); a later start never ends earlier there, so
earliest times still come of earliest ones, and latest of latest. Extra operations are tied in as `joined.py` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.certificate.hours import FAR, NEVER, Hours
from crosspipe.certificate.machines import machines_of
from crosspipe.certificate.ties import Ties
from crosspipe.certificate.verdict import PYTHON_STEP, RefusedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.certificate.chain import Chain
    from crosspipe.certificate.held import Held
    from crosspipe.certificate.machines import Machine
    from crosspipe.certificate.verdict import Budget
    from crosspipe.problem.problem import Problem

    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]

LARGEST_TARGET = 2**60


@dataclass(slots=True, eq=False)
class Windows:
    """Earliest start and tail of every operation, by (class, index), and the states ruled out on each machine.

    `early` and `late` are the earliest and latest starts of extra operations one by one.
    """

    r: IntArray
    q: IntArray
    early: IntArray
    late: IntArray
    ruled_out: list[BoolArray | None]

    def copy(self) -> Windows:
        """Copy the windows; what is ruled out is replaced, never changed, so it is shared."""
        return Windows(self.r.copy(), self.q.copy(), self.early.copy(), self.late.copy(), list(self.ruled_out))


class Count:
    """All machines of a chain, for one target."""

    def __init__(
        self, problem: Problem, chain: Chain, held: dict[int, list[Held]], target: int, budget: Budget
    ) -> None:
        if target >= LARGEST_TARGET:
            raise RefusedError("the target is too large to count with")
        self._problem = problem
        hours = {
            number: Hours(lane, target, budget)
            for number, lane in enumerate(problem.lanes, start=len(problem.devices))
            if lane.windows
        }
        self._hours = [hours.get(link.resource) for link in chain.links]
        self._ties = Ties(problem, chain, target, hours)
        self.chain, self.target, self._budget = chain, target, budget
        self.width = max(link.count for link in chain.links)
        self.machines = machines_of(chain, held, self.width, budget)
        self._duration = np.array([link.duration for link in chain.links], dtype=np.int64)
        self.place = {link.name: index for index, link in enumerate(chain.links)}
        self.machine_of = {index: k for k, machine in enumerate(self.machines) for index in machine.classes}

    def start(self) -> Windows:
        """Windows that say nothing yet but deadlines."""
        r = np.zeros((len(self.chain.links), self.width), dtype=np.int64)
        q = np.zeros_like(r)
        due = self._problem.due_ns
        if due is not None:
            # The k-th to run of a class ends by the k-th smallest deadline, whichever runs when.
            for c, link in enumerate(self.chain.links):
                q[c, : link.count] = self.target - np.sort(np.minimum(due[list(link.members)], self.target))
        early, late = self._ties.start()
        return Windows(r, q, early, late, [None] * len(self.machines))

    def put_before(self, windows: Windows, first: tuple[int, int], second: tuple[int, int]) -> int:
        """Let one operation (class, index) go before another on the same machine; returns the machine."""
        (a, i), (b, j) = first, second
        number = self.machine_of[a]
        machine = self.machines[number]
        u, v = machine.classes.index(a), machine.classes.index(b)
        out = (machine.counts[:, v] > j) & (machine.counts[:, u] <= i)
        known = windows.ruled_out[number]
        windows.ruled_out[number] = out if known is None else out | known
        windows.r[b, j] = max(windows.r[b, j], windows.r[a, i] + self._duration[a])
        windows.q[a, i] = max(windows.q[a, i], windows.q[b, j] + self._duration[b])
        return number

    def refuted(self, windows: Windows, dirty: set[int]) -> bool:
        """Shrink windows in place; whether the target is refuted. `dirty` names the machines to look at first."""
        todo = set(dirty) | self._carry(windows)
        while todo:
            if self._closed(windows):
                return True
            number = min(todo)
            todo.discard(number)
            moved = self._sweep(self.machines[number], windows, windows.ruled_out[number])
            if moved is None:
                return True
            if moved:
                todo |= self._carry(windows)
        return self._closed(windows)

    def _there(self) -> BoolArray:
        counts = np.array([link.count for link in self.chain.links])
        return np.arange(self.width) < counts[:, None]

    def _carry(self, windows: Windows) -> set[int]:
        """Carry windows along the chain and within classes; returns the machines of those that moved."""
        old_r, old_q = windows.r.copy(), windows.q.copy()
        self._carry_chain(windows)
        # Until they meet: a target that is refuted would let some windows grow for ever.
        while self._ties.carry(windows.r, windows.q, windows.early, windows.late):
            self._carry_chain(windows)
            if self._closed(windows):
                break
        moved = (windows.r != old_r).any(axis=1) | (windows.q != old_q).any(axis=1)
        return {self.machine_of[c] for c in np.flatnonzero(moved).tolist() if c in self.machine_of}

    def _closed(self, windows: Windows) -> bool:
        """Whether some operation has no start left."""
        closed = (windows.r + self._duration[:, None] + windows.q > self.target)[self._there()].any()
        return bool(closed or (windows.early > windows.late).any())

    def _carry_chain(self, windows: Windows) -> None:
        r, q = windows.r, windows.q
        links, length = self.chain.links, self.chain.length
        for c, link in enumerate(links):
            n = link.count
            steps = link.duration * np.arange(n)
            if 0 < c < length:
                ahead, before = self._hours[c - 1], links[c - 1]
                ends = r[c - 1, :n] + before.duration
                if ahead is not None:
                    ends = ahead.passage(r[c - 1, :n], before.duration)[1]
                np.maximum(r[c, :n], ends + (before.lag - before.duration), out=r[c, :n])
            r[c, :n] = np.maximum.accumulate(r[c, :n] - steps) + steps
            own = self._hours[c]
            if own is not None:
                r[c, :n] = own.passage(r[c, :n], link.duration)[0]
        for c in reversed(range(len(links))):
            link = links[c]
            n = link.count
            steps = link.duration * np.arange(n)
            if c + 1 < length:
                behind = self.target - q[c + 1, :n] - links[c + 1].duration
                later = self._hours[c + 1]
                if later is not None:
                    behind = later.latest(self.target - q[c + 1, :n], links[c + 1].duration)
                np.maximum(q[c, :n], self.target - (behind - (link.lag - link.duration)), out=q[c, :n])
            q[c, :n] = (np.maximum.accumulate((q[c, :n] - steps[::-1])[::-1]) + steps)[::-1]

    def _starts(self, classes: list[int], ends: IntArray) -> IntArray:
        """Latest starts that end in time, a column for each class of one machine."""
        hours = self._hours[classes[0]]
        if hours is None:
            return ends - self._duration[classes]
        columns = [hours.latest(ends[:, k], int(self._duration[c])) for k, c in enumerate(classes)]
        return np.stack(columns, axis=1)

    def _passages(self, classes: list[int], ready: IntArray) -> tuple[IntArray, IntArray]:
        """Earliest starts and their ends, a column for each class of one machine."""
        hours = self._hours[classes[0]]
        if hours is None:
            return ready, ready + self._duration[classes]
        columns = [hours.passage(ready[:, k], int(self._duration[c])) for k, c in enumerate(classes)]
        return np.stack([start for start, _ in columns], axis=1), np.stack([end for _, end in columns], axis=1)

    def _sweep(self, machine: Machine, windows: Windows, ruled_out: BoolArray | None) -> bool | None:
        """Shrink the windows of one machine; whether any moved, None if no path is left."""
        target, levels, total = self.target, machine.levels, machine.states
        self._budget.spend(12 * machine.counts.size + 15 * PYTHON_STEP * len(levels))
        classes = list(machine.classes)
        table_r, table_q = (np.zeros((len(classes), self.width + 1), dtype=np.int64) for _ in range(2))
        table_r[:, :-1], table_q[:, :-1] = windows.r[classes], windows.q[classes]
        release, due = table_r.ravel()[machine.cell], target - table_q.ravel()[machine.cell]

        latest = np.full(total + 1, NEVER, dtype=np.int64)
        latest[total - 1] = target
        for k in range(len(levels) - 3, -1, -1):
            a, b = levels[k], levels[k + 1]
            begin = self._starts(classes, np.minimum(latest[machine.after[a:b]], due[a:b]))
            begin[begin < release[a:b]] = NEVER
            best = begin.max(axis=1)
            if ruled_out is not None:
                best[ruled_out[a:b]] = NEVER
            latest[a:b] = best
        if latest[0] < 0:
            return None
        limit = np.minimum(latest[machine.after], due)

        start = np.empty_like(release)
        end = np.full((total + 1, len(classes)), FAR, dtype=np.int64)
        columns = np.arange(len(classes))
        for k in range(len(levels) - 1):
            a, b = levels[k], levels[k + 1]
            reached = np.zeros(1, dtype=np.int64) if k == 0 else end[machine.before[a:b], columns].min(axis=1)
            begin, done = self._passages(classes, np.maximum(reached[:, None], release[a:b]))
            done[(done > limit[a:b]) | (reached > latest[a:b])[:, None]] = FAR
            start[a:b], end[a:b] = begin, done
        if end[machine.before[total - 1], columns].min() >= FAR:
            return None
        used = end[:total] < FAR
        cells = machine.cell[used]
        least, most = np.full(table_r.size, FAR, dtype=np.int64), np.full(table_r.size, NEVER, dtype=np.int64)
        np.minimum.at(least, cells, start[used])
        np.maximum.at(most, cells, limit[used])
        least, most = least.reshape(table_r.shape), most.reshape(table_r.shape)
        moved = False
        for row, c in enumerate(classes):
            n = self.chain.links[c].count
            if (least[row, :n] >= FAR).any():
                return None
            tails = target - most[row, :n]
            if (least[row, :n] > windows.r[c, :n]).any() or (tails > windows.q[c, :n]).any():
                moved = True
                np.maximum(windows.r[c, :n], least[row, :n], out=windows.r[c, :n])
                np.maximum(windows.q[c, :n], tails, out=windows.q[c, :n])
        return moved
