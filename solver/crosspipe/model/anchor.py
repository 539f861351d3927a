"""Where a schedule may slide in time it is held early: for the span, which does not count from 0.

Let R be the compute operations that wait for no other compute, and X what waits for none of R: extra operations all.
Let L be the last edge of the one-off closed windows, P the least common multiple of the periods of the others (1 if
there are none). Some schedule of the smallest span starts its first compute at

    L + sum over X of (duration + largest lag after it) + (number of X on periodic lanes + 1) * P - 1

at the latest. Proof: take a schedule, move everything outside X later by a whole number of periods, and do X before it,
one after the other as early as the lanes allow: done by the sum without the last P. Then move everything outside X
earlier again, by whole periods past L, down to less than P after that. No span grows, as X is no compute. Deadlines
forbid to move anything later: then this is used only where X is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.model.horizon import last_edge_ns, periods_ns
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.arcs import Arcs
    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables
    from crosspipe.problem.operations import IntArray


@dataclass(frozen=True, slots=True)
class Anchor:
    """What may start first, and when at the latest.

    Attributes
    ----------
    first
        Operations of which one is the first compute to start.
    latest_ns
        Latest start of it.
    edge_ns
        Time after which lanes only repeat.
    period_ns
        Period of all lanes together, 1 if they stay open for ever.
    alone
        Whether nothing can be done before it.
    """

    first: tuple[int, ...]
    latest_ns: int
    edge_ns: int
    period_ns: int
    alone: bool

    def moved_ns(self, start_ns: IntArray) -> int:
        """How much earlier a schedule can be moved as a whole, not past 0."""
        late = int(start_ns[list(self.first)].min()) - self.edge_ns if self.alone else 0
        return max(0, late // self.period_ns) * self.period_ns

    def holds(self, start_ns: IntArray) -> bool:
        """Whether a schedule keeps to it, once moved."""
        return int(start_ns[list(self.first)].min()) - self.moved_ns(start_ns) <= self.latest_ns


def find_anchor(ticks: Ticks, arcs: Arcs, order: IntArray) -> Anchor | None:
    """Find what can be held; None for the makespan, and where deadlines forbid it.

    Parameters
    ----------
    ticks, arcs
        The problem and its arcs.
    order
        Operation numbers such that every arc points forward.
    """
    problem = ticks.problem
    if ticks.objective is not Objective.SPAN:
        return None
    compute = problem.operations.kind <= Kind.BW
    behind = _behind(compute, arcs, order)
    ahead = np.flatnonzero(~compute & ~behind)
    if problem.due_ns is not None and len(ahead):
        return None
    edge = period = waiting = 0
    if any(ticks.closed):
        periods = periods_ns(problem)
        edge, period = last_edge_ns(problem), lcm(*periods.values())
        waiting = int(np.isin(problem.operations.resource[ahead], list(periods)).sum())
    period = max(period, 1)
    lag = np.zeros(len(problem.operations), dtype=np.int64)
    np.maximum.at(lag, problem.precedences.before, problem.precedences.lag_ns)
    before = sum(problem.operations.duration_ns[ahead].tolist()) + sum(lag[ahead].tolist())
    first = tuple(np.flatnonzero(compute & ~behind).tolist())
    return Anchor(first, edge + before + (waiting + 1) * period - 1, edge, period, alone=not len(ahead))


def add_anchor(model: CpModel, variables: Variables, ticks: Ticks, anchor: Anchor) -> None:
    """Ensure that the first compute of all starts at `latest_ns` at the latest."""
    latest = ticks.scale.ticks(anchor.latest_ns)
    if len(anchor.first) == 1:
        model.add(variables.start[anchor.first[0]] <= latest)
        return
    opening = model.new_int_var(0, latest, "")
    model.add_min_equality(opening, [variables.start[number] for number in anchor.first])
    variables.opening[anchor.first] = opening


def _behind(compute: NDArray[np.bool_], arcs: Arcs, order: IntArray) -> NDArray[np.bool_]:
    """Whether each operation waits, directly or not, for compute."""
    followers: list[list[int]] = [[] for _ in range(len(compute))]
    for before, after in zip(arcs.before.tolist(), arcs.after.tolist(), strict=True):
        followers[before].append(after)
    behind = np.zeros(len(compute), dtype=np.bool_)
    for number in order.tolist():
        if compute[number] or behind[number]:
            behind[followers[number]] = True
    return behind
