"""What extra operations wait for and what waits for them: arcs between their classes, places and the chain's classes.

The rules, with their proofs, are those of `extras.py`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.lattice.nodes import TOGETHER
from crosspipe.problem.likeness import likeness
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crosspipe.lattice.nodes import Node
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem

Wait = tuple[int, int]
"""How many operations of a class something waits for (or that wait for it), and the lag between."""


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Arcs (class, index, class, index, lag) in an order that carries heads in one go, and the places of each class.

    Attributes
    ----------
    arcs
        Shape (arcs, 5), ticks.
    group_class, group_first, group_member
        Joint classes, where the members of each begin among `group_member`, and their own classes.
    """

    arcs: IntArray
    group_class: IntArray
    group_first: IntArray
    group_member: IntArray


def links_of(problem: Problem, nodes: Sequence[Node], tick: int) -> Links:
    """Lay out all arcs from, between and to extra operations; `nodes` are all classes."""
    return _Linking(problem, nodes, tick).links()


class _Linking:
    def __init__(self, problem: Problem, nodes: Sequence[Node], tick: int) -> None:
        self._nodes = nodes
        self._alike = likeness(problem)
        self._single = {n.members[0]: c for c, n in enumerate(nodes) if n.kind is Kind.EXTRA and n.machine < 0}
        self._places = [c for c, n in enumerate(nodes) if n.kind is Kind.EXTRA and n.machine >= 0]
        self._duration = {number: nodes[c].duration for number, c in self._single.items()}
        class_of = {(n.kind, stage, n.leg): c for c, n in enumerate(nodes) for stage in n.stages}
        ops, waits = problem.operations, problem.precedences
        ahead: dict[int, list[tuple[int, int]]] = {number: [] for number in self._single}
        behind: dict[int, list[tuple[int, int]]] = {number: [] for number in self._single}
        self._between: list[tuple[int, int, int]] = []
        rows = zip(waits.before.tolist(), waits.after.tolist(), (waits.lag_ns // tick).tolist(), strict=True)

        def cell(number: int) -> int | None:
            return class_of.get((Kind(int(ops.kind[number])), int(ops.stage[number]), int(ops.leg[number])))

        for before, after, lag in rows:
            if before in self._single and after in self._single:
                self._between.append((before, after, lag))
            elif after in self._single and (found := cell(before)) is not None:
                ahead[after].append((found, lag))
                if ops.kind[before] == Kind.W:
                    # Which W a joint class runs when is open, not so the B that each of them follows.
                    back = class_of[Kind.B, int(ops.stage[before]), 0]
                    ahead[after].append((back, int(ops.duration_ns[before]) // tick + lag))
            elif before in self._single and (found := cell(after)) is not None:
                behind[before].append((found, lag))
        order = list(self._single)
        self._waits = self._through(order, ahead, [(f, e, lag) for f, e, lag in self._between])
        self._feeds = self._through(order[::-1], behind, [(e, f, lag) for f, e, lag in self._between])

    def _through(
        self,
        order: Sequence[int],
        own: Mapping[int, Sequence[tuple[int, int]]],
        between: Sequence[tuple[int, int, int]],
    ) -> dict[int, dict[int, Wait]]:
        """By extra operation and class, what it waits for by itself or through other extra operations.

        Read backwards, `between` reversed, what waits for it.
        """
        into: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for before, after, lag in between:
            into[after].append((before, lag))
        found: dict[int, dict[int, Wait]] = {}
        for number in order:
            waits: dict[int, Wait] = {}
            lags: dict[int, list[int]] = defaultdict(list)
            for place, lag in own[number]:
                lags[place].append(lag)
            for place, several in lags.items():
                waits[place] = len(several), min(several)
            for other, lag in into[number]:
                for place, (count, more) in found[other].items():
                    waits[place] = max(waits.get(place, (0, 0)), (count, more + self._duration[other] + lag))
            found[number] = waits
        return found

    def links(self) -> Links:
        """Order: into single operations, between them, on to and from places, out of single operations."""
        nodes, single = self._nodes, self._single
        into: list[tuple[int, ...]] = []
        out: list[tuple[int, ...]] = []
        for number, c in single.items():
            into += [(place, count - 1, c, 0, lag) for place, (count, lag) in self._waits[number].items()]
            out += [(c, 0, p, nodes[p].count - count, lag) for p, (count, lag) in self._feeds[number].items()]
        order = {number: place for place, number in enumerate(single)}
        inner: list[tuple[int, ...]] = [
            (single[before], 0, single[after], 0, lag)
            for before, after, lag in sorted(self._between, key=lambda row: order[row[1]])
        ]
        for x in self._places:
            into += self._onto(x)
            out += self._from(x)
            inner += self._among(x)
        return Links(_rows(into + inner + out), *self._groups())

    def _onto(self, x: int) -> Iterable[tuple[int, ...]]:
        """Let what several members wait for come before as many places."""
        node = self._nodes[x]
        for place, waits in _by_class(self._waits[member] for member in node.members).items():
            for count in sorted({count for count, _ in waits}):
                lags = [lag for more, lag in waits if more >= count]
                yield place, count - 1, x, node.count - len(lags), min(lags)

    def _from(self, x: int) -> Iterable[tuple[int, ...]]:
        node = self._nodes[x]
        for place, feeds in _by_class(self._feeds[member] for member in node.members).items():
            for count in sorted({count for count, _ in feeds}):
                lags = [lag for more, lag in feeds if more >= count]
                yield x, len(lags) - 1, place, self._nodes[place].count - count, min(lags)

    def _among(self, x: int) -> Iterable[tuple[int, ...]]:
        """Let the k-th of members that may be exchanged have the k-th place."""
        members = sorted(self._nodes[x].members)
        if len({self._alike[member] for member in members}) == 1:
            for k, member in enumerate(members):
                yield x, k, self._single[member], 0, TOGETHER
                yield self._single[member], 0, x, k, TOGETHER

    def _groups(self) -> tuple[IntArray, IntArray, IntArray]:
        members = [[self._single[member] for member in self._nodes[x].members] for x in self._places]
        first = np.concatenate([[0], np.cumsum([len(row) for row in members])])
        flat = [c for row in members for c in row]
        return _array(self._places), first.astype(np.int64), _array(flat)


def _by_class(waits: Iterable[Mapping[int, Wait]]) -> dict[int, list[Wait]]:
    found: dict[int, list[Wait]] = defaultdict(list)
    for each in waits:
        for place, wait in each.items():
            found[place].append(wait)
    return found


def _rows(rows: list[tuple[int, ...]]) -> IntArray:
    return np.array(rows, dtype=np.int64).reshape(-1, 5)


def _array(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)
