"""Arcs: `start(after) >= start(before) + length`, what the groups of precedence-like constraints consist of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import DeadlockError

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.variables import Variables
    from crosspipe.problem.operations import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """Arc i says `start(after[i]) >= start(before[i]) + length[i]`, in ticks; lengths are not negative."""

    before: IntArray
    after: IntArray
    length: IntArray

    def __add__(self, other: Arcs) -> Arcs:
        """Return both lists of arcs as one."""
        return Arcs(
            np.concatenate([self.before, other.before]),
            np.concatenate([self.after, other.after]),
            np.concatenate([self.length, other.length]),
        )


def add_arcs(model: CpModel, variables: Variables, arcs: Arcs) -> None:
    """Ensure `start(after) >= start(before) + length` for every arc."""
    start = variables.start
    rows = zip(arcs.before.tolist(), arcs.after.tolist(), arcs.length.tolist(), strict=True)
    for before, after, length in rows:
        model.add(start[after] >= start[before] + length)


def forward_order(count: int, arcs: Arcs) -> IntArray:
    """Sort operations `0..count-1` so that every arc points forward; deterministic.

    Raises
    ------
    DeadlockError
        If operations wait for each other in a circle.
    """
    waiting = np.bincount(arcs.after, minlength=count)
    by_before = np.argsort(arcs.before, kind="stable")
    edges = np.searchsorted(arcs.before[by_before], np.arange(count + 1)).tolist()
    followers = arcs.after[by_before].tolist()
    left = waiting.tolist()
    order = np.flatnonzero(waiting == 0).tolist()
    for operation in order:
        for follower in followers[edges[operation] : edges[operation + 1]]:
            left[follower] -= 1
            if left[follower] == 0:
                order.append(follower)
    if len(order) < count:
        cycle = _cycle([number for number in range(count) if left[number] > 0], arcs)
        raise DeadlockError("operations wait for each other in a circle before any order is chosen", cycle)
    return np.array(order, dtype=np.int64)


def _cycle(stuck: list[int], arcs: Arcs) -> tuple[int, ...]:
    """Walk back from a stuck operation through stuck ones until one is met again."""
    among = set(stuck)
    rows = zip(arcs.before.tolist(), arcs.after.tolist(), strict=True)
    waits_for = {after: before for before, after in rows if before in among}
    path = [stuck[0]]
    while waits_for[path[-1]] not in path:
        path.append(waits_for[path[-1]])
    return tuple(reversed(path[path.index(waits_for[path[-1]]) :]))
