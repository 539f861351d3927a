"""The least time in flight under difference constraints, by a flow of one unit from every F to where flights end.

The dual of the linear programme in `shift.py` sends one unit from every F to any of the closing operations, along arcs
of the constraints, as far as possible in all (Fulkerson 1961, the out-of-kilter method; the constraint matrix is
totally unimodular, so that times stay whole).

The primal-dual method sends units along tight arcs (t(v) - t(u) = w), and when no more can be sent, moves together all
that the waiting F's hold on to, until a further arc is tight. Times obey all constraints at every moment and the sum
only falls, so it may be ended at any time. Once all units are sent, take any other times: every unit's path is as long
as w says and tight here, so its end lies no nearer to its start there; added up, the sum there is no less.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.schedule.shift_network import Network


class Flow:
    """The primal-dual method: `times` are whole numbers that keep every constraint at every moment."""

    def __init__(self, network: Network, times: list[int], forwards: list[int], closing: list[int]) -> None:
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
