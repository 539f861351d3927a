"""The same orders, with activations held as short as they allow: each F delayed as far as that pays.

With the orders fixed, the start times t of all schedules of no larger value are those that keep difference constraints
t(v) - t(u) >= w: precedences, neighbours in the orders, ends by the value (and by the span of each device, and by
deadlines). The time in flight is a sum over F's and the operations that give their activations back,
`sum t(closing) - t(F)` and a constant, so the least is a linear programme. Its dual sends one unit from every F to any
of the closing operations, along arcs of the constraints, as far as possible in all: a flow (Fulkerson 1961, the
out-of-kilter method; the constraint matrix is totally unimodular, so that times stay whole).

Delaying F's alone, the closing operations where they are, is one backward pass; it is not always the least, as one W
that waits may let several F's before it wait as well. So the pass is only the start. The primal-dual method goes on
from there: it sends units along tight arcs (t(v) - t(u) = w), and when no more can be sent, moves together all that the
waiting F's hold on to, until a further arc is tight. Times obey all constraints at every moment and the sum only falls,
so it may be ended at any time. Once all units are sent, take any other times: every unit's path is as long as w says
and tight here, so its end lies no nearer to its start there; added up, the sum there is no less.

Transfers on lanes with windows stay where they were, as waiting depends on the time of day there; so the least is that
among schedules with these times of theirs. Memory follows from the orders (see `replay`), but is measured again.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import NeverOpensError
from crosspipe.problem.problem import NO_DEADLINE, Objective
from crosspipe.schedule.graph import Graph
from crosspipe.schedule.in_flight import flights, in_flight_ns
from crosspipe.schedule.measure import compute_rows, fits, makespan_ns, peaks, span_ns, value_ns
from crosspipe.schedule.replay import resolved, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crosspipe.problem.problem import IntArray, Problem
    from crosspipe.schedule.orders import Schedule

Arc = tuple[int, int, int]
"""Operations u and v (or the root, which stands for time 0) and w: `t(v) - t(u) >= w`."""


@dataclass(frozen=True, slots=True)
class Shifted:
    """A schedule with F's delayed.

    Attributes
    ----------
    schedule
        The orders given, with times of the same value, or the schedule given where nothing was gained.
    in_flight_ns
        Its time in flight, of all microbatches on all stages together.
    least
        Whether no times of these orders (with transfers on lanes with windows as they are) and this value give less.
    """

    schedule: Schedule
    in_flight_ns: int
    least: bool


def hold_shorter(
    problem: Problem, schedule: Schedule, objective: Objective, go_on: Callable[[int], bool] | None = None
) -> Shifted:
    """Delay F's so that activations are held as short as the orders and the value of a schedule allow.

    Parameters
    ----------
    problem, schedule
        A schedule that fits, at the times of `timed`.
    objective
        Its value stays as it is; the makespan never grows.
    go_on
        Told the number of arcs looked at since it was last asked; once it says no, what was reached is returned. None
        to go on until it is the least.
    """
    problem = resolved(problem, schedule.orders)
    graph = Graph(problem, schedule.orders)
    forwards, closing = flights(problem)
    network = _Network(problem, schedule, objective, graph)
    times = network.delayed(schedule.start_ns, closing)
    least = False
    if go_on is None or go_on(2 * network.size):
        flow = _Flow(network, times, forwards.tolist(), closing.tolist())
        least = flow.settle(go_on)
        times = flow.times
    found = _released(problem, schedule, objective, graph, (forwards, times))
    before = in_flight_ns(problem, schedule)
    if found is None:
        return Shifted(schedule, before, least=False)
    after = in_flight_ns(problem, found)
    return Shifted(found, after, least) if after < before else Shifted(schedule, before, least)


def _released(
    problem: Problem, schedule: Schedule, objective: Objective, graph: Graph, held: tuple[IntArray, list[int]]
) -> Schedule | None:
    """Start no F before its time, all else as early as that allows; None unless all that was kept is kept."""
    forwards, times = held
    release_ns = np.zeros(len(problem.operations), dtype=np.int64)
    release_ns[forwards] = np.array(times, dtype=np.int64)[forwards]
    if objective is Objective.SPAN:
        # Whatever else may come first on a device is not started sooner than it was.
        firsts = [rows[0] for rows in compute_rows(problem, schedule) if len(rows)]
        release_ns[firsts] = np.maximum(release_ns[firsts], schedule.start_ns[firsts])
    try:
        found = run(problem, schedule.orders, graph, release_ns)
    except NeverOpensError:
        return None
    same = value_ns(problem, found, objective) <= value_ns(problem, schedule, objective)
    same = same and makespan_ns(found) <= makespan_ns(schedule) and fits(problem, found)
    rises = any(
        after.amount > before.amount
        for before, after in zip(peaks(problem, schedule), peaks(problem, found), strict=True)
    )
    return found if same and not rises else None


class _Network:
    """The constraints on the times of the orders of a schedule.

    Attributes
    ----------
    root
        Number of the node that stands for time 0.
    arcs
        All constraints.
    size
        How many there are.
    """

    def __init__(self, problem: Problem, schedule: Schedule, objective: Objective, graph: Graph) -> None:
        self._successors = graph.successors
        self.root = len(problem.operations)
        # A lane may be slower at times; what is there stays there.
        self._lengths: list[int] = (schedule.end_ns - schedule.start_ns).tolist()
        self._pinned = {
            operation
            for number, lane in enumerate(problem.lanes)
            if lane.windows
            for operation in problem.by_resource[len(problem.devices) + number].tolist()
        }
        self._latest = _latest_ends(problem, makespan_ns(schedule))
        self._starts: list[int] = schedule.start_ns.tolist()
        self._held: list[tuple[int, int]] = []
        self._span = 0
        if objective is Objective.SPAN:
            rows = [rows for rows in compute_rows(problem, schedule) if len(rows)]
            self._held = [(int(row[0]), int(row[-1])) for row in rows]
            self._span = span_ns(problem, schedule)
        self._order = _topological(graph)
        self.arcs = list(self._all_arcs(problem, graph))
        self.size = len(self.arcs)

    def _all_arcs(self, problem: Problem, graph: Graph) -> Iterator[Arc]:
        for u, successors in enumerate(self._successors):
            for v, lag in successors:
                yield u, v, self._lengths[u] + lag
        for operation, entering in enumerate(graph.entering):
            if entering == 0:
                yield self.root, operation, 0
        due = problem.due_ns is not None
        for operation, latest in enumerate(self._latest):
            if due or not self._successors[operation]:
                yield operation, self.root, self._lengths[operation] - latest
        for operation in self._pinned:
            yield self.root, operation, self._starts[operation]
            yield operation, self.root, -self._starts[operation]
        for first, end in self._held:
            yield end, first, self._lengths[end] - self._span
        if problem.chains_required:
            for chain in problem.chains:
                for u, v in zip(chain[:-1].tolist(), chain[1:].tolist(), strict=True):
                    yield u, v, 0

    def delayed(self, start_ns: IntArray, closing: IntArray) -> list[int]:
        """Latest starts while the operations that close flights, and pinned ones, stay: one pass from the back."""
        times: list[int] = start_ns.tolist()
        fixed = self._pinned | set(closing.tolist())
        limits = {end: times[first] + self._span - self._lengths[end] for first, end in self._held}
        for operation in reversed(self._order):
            if operation in fixed:
                continue
            length = self._lengths[operation]
            latest = min(self._latest[operation] - length, limits.get(operation, NO_DEADLINE))
            for v, lag in self._successors[operation]:
                latest = min(latest, times[v] - length - lag)
            times[operation] = max(times[operation], latest)
        return [*times, 0]


def _latest_ends(problem: Problem, makespan: int) -> list[int]:
    if problem.due_ns is None:
        return [makespan] * len(problem.operations)
    return [min(makespan, due) for due in problem.due_ns.tolist()]


def _topological(graph: Graph) -> list[int]:
    waiting = list(graph.entering)
    order = [operation for operation, entering in enumerate(waiting) if entering == 0]
    for operation in order:
        for v, _ in graph.successors[operation]:
            waiting[v] -= 1
            if waiting[v] == 0:
                order.append(v)
    return order


class _Flow:
    """The primal-dual method: `times` are whole numbers that keep every constraint at every moment."""

    def __init__(self, network: _Network, times: list[int], forwards: list[int], closing: list[int]) -> None:
        self.times = times
        self._root = network.root
        nodes = network.root + 1
        self._out: list[list[tuple[int, int, int]]] = [[] for _ in range(nodes)]
        self._into: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
        for number, (u, v, w) in enumerate(network.arcs):
            self._out[u].append((v, w, number))
            self._into[v].append((u, number))
        self._sent = [0] * network.size
        pairs = [(f, c) for f, c in zip(forwards, closing, strict=True) if f != c]
        self._waiting = [f for f, _ in pairs]
        self._open = {c for _, c in pairs}
        self._looked = 0

    def settle(self, go_on: Callable[[int], bool] | None) -> bool:
        """Go on until all units are sent; says whether they are."""

        def allowed() -> bool:
            looked, self._looked = self._looked, 0
            return go_on is None or go_on(looked)

        while self._waiting:
            if not self._send(allowed):
                return False
            if self._waiting:
                self._move()
        return True

    def _send(self, allowed: Callable[[], bool]) -> bool:
        """Send along tight arcs what there is a way for; False if that was ended before."""
        dead, still = set[int](), list[int]()
        for place, source in enumerate(self._waiting):
            if not allowed():
                self._waiting = [*still, *self._waiting[place:]]
                return False
            if not self._sends(source, dead):
                still.append(source)
        self._waiting = still
        return True

    def _sends(self, source: int, dead: set[int]) -> bool:
        """Send one unit to an open closing operation; if there is no way, all nodes it reaches are `dead`.

        Sending elsewhere opens no way from a dead node: new ways start on nodes that had one.
        """
        if source in dead:
            return False
        times, came, stack = self.times, {source: (source, -1, 0)}, [source]
        while stack:
            u = stack.pop()
            if u in self._open:
                self._open.remove(u)
                while u != source:
                    u, number, step = came[u]
                    self._sent[number] += step
                return True
            for v, w, number in self._out[u]:
                if times[v] - times[u] == w and v not in came and v not in dead:
                    came[v] = (u, number, 1)
                    stack.append(v)
            for v, number in self._into[u]:
                if self._sent[number] and v not in came and v not in dead:
                    came[v] = (u, number, -1)
                    stack.append(v)
            self._looked += len(self._out[u]) + len(self._into[u])
        dead.update(came)
        return False

    def _move(self) -> None:
        """Move what the waiting F's hold on to, all by the slack to the nearest open closing operation (Dijkstra)."""
        times = self.times
        far: dict[int, int] = {}
        heap = [(0, source) for source in self._waiting]
        slack = 0
        while heap:
            slack, u = heappop(heap)
            if u in far:
                continue
            far[u] = slack
            if u in self._open:
                break
            for v, w, _ in self._out[u]:
                if v not in far:
                    heappush(heap, (slack + times[v] - times[u] - w, v))
            for v, number in self._into[u]:
                if self._sent[number] and v not in far:
                    heappush(heap, (slack, v))
            self._looked += len(self._out[u]) + len(self._into[u])
        # The root is where time is counted from: it stays, and all else moves against it.
        back = slack - far.get(self._root, slack)
        if back:
            self.times = times = [time - back for time in times]
        for u, distance in far.items():
            times[u] += slack - distance
