"""Refuting a target time by device and lane dynamic programmes with windows carried between them.

Claim: a refuted T has no schedule of makespan at most T. Take any schedule of makespan <= T with every class in index
order (identical microbatches: there is one if there is any). On each machine its operations follow one path of count
states within memory, since amounts held follow from the counts and a machine runs one operation at a time. By induction
every start stays inside its window: at first windows are heads and tails along the chain; carrying them along the chain
and from microbatch to microbatch uses implied precedences; a pass over a machine replaces the earliest start of an
operation by the least over all paths and times that the current windows allow, a set that holds the schedule, and tails
likewise. So if no path is left, or an operation has no start, there was no schedule. Nothing is assumed of the order
between classes.

Deadlines. What ends by its deadline leaves T less the deadline after its end: its first tail.

Windows of lanes. A transfer that may start at t starts at the first moment from t on that lets it end without meeting a
closed lane, and ends when the integral of the rate is its size. A later t never gives an earlier start, nor a later
start an earlier end: of two transfers of one size under way the first is never overtaken, and while the second still
waits nothing of it is done. So the earliest time at which a state can be reached follows from the earliest time of the
state before, and, backwards, the latest from the latest: the programme over counts stays exact. Latest starts are
latest moments from which the transfer ends in time; tails count to the target, so all times are absolute. Index order
may still be assumed: sorting the starts of like transfers leaves the set of their intervals as it is.

Extra operations: see `extras`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.lattice.kernel import fixpoint, machine_pass
from crosspipe.lattice.machines import starts_of

if TYPE_CHECKING:
    from crosspipe.lattice.machines import Lattice
    from crosspipe.problem.operations import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Earliest start and tail of each operation by [class, index], in ticks."""

    r: IntArray
    q: IntArray


class Tables:
    """A lattice laid out for the kernel, with the kernel's scratch space."""

    def __init__(self, lattice: Lattice) -> None:
        machines = lattice.machines
        widest = max(len(machine.nodes) for machine in machines)
        sizes = [len(machine.space.counts) for machine in machines]
        self.lattice = lattice
        self.first_state = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.first_class = np.concatenate([[0], np.cumsum([len(m.nodes) for m in machines])]).astype(np.int64)
        self.counts = np.zeros((int(self.first_state[-1]), widest), dtype=np.int32)
        self.successors = np.full_like(self.counts, -1)
        for machine, start in zip(machines, self.first_state.tolist(), strict=False):
            rows = slice(start, start + len(machine.space.counts))
            self.counts[rows, : len(machine.nodes)] = machine.space.counts
            self.successors[rows, : len(machine.nodes)] = machine.space.successors
        self.classes = np.array([node for machine in machines for node in machine.nodes], dtype=np.int64)
        self.duration = np.array([node.duration for node in lattice.nodes], dtype=np.int64)
        self.lag = np.array([node.lag for node in lattice.nodes], dtype=np.int64)
        self.machine_of = np.array([node.machine for node in lattice.nodes], dtype=np.int64)
        self.count = np.array([node.count for node in lattice.nodes], dtype=np.int64)
        links = lattice.links
        self.links = (links.arcs, links.group_class, links.group_first, links.group_member)
        self.hours = lattice.hours
        self.forbidden = np.zeros(len(self.counts), dtype=np.int32)
        self.latest = np.zeros(max(sizes), dtype=np.int64)
        self.earliest = np.zeros(max(sizes), dtype=np.int64)
        self.new_r = np.zeros((widest, lattice.width), dtype=np.int64)
        self.new_end = np.zeros((widest, lattice.width), dtype=np.int64)
        self.passes = np.zeros(1, dtype=np.int64)

    def first_windows(self, target: int) -> Windows:
        """Windows along the chain and before deadlines alone."""
        lattice = self.lattice
        r = np.zeros((len(lattice.nodes), lattice.width), dtype=np.int64)
        r[: lattice.chain] = starts_of(lattice)[:, None]
        q = np.zeros_like(r) if lattice.due is None else np.maximum(target - lattice.due, 0)
        return Windows(r, q)

    def shrink(self, target: int, windows: Windows, dirty: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> bool:
        """Shrink windows in place to the fixpoint for a target, starting from the dirty machines; False if refuted."""
        return bool(
            fixpoint(
                target,
                self.counts,
                self.successors,
                self.forbidden,
                self.first_state,
                self.classes,
                self.first_class,
                self.duration,
                self.lag,
                self.lattice.chain,
                self.lattice.microbatches,
                self.count,
                self.machine_of,
                self.links,
                self.hours,
                windows.r,
                windows.q,
                dirty,
                self.latest,
                self.earliest,
                self.new_r,
                self.new_end,
                self.passes,
            )
        )

    def stands(self, target: int) -> Windows | None:
        """Windows at the fixpoint for a target, None if it is refuted."""
        windows = self.first_windows(target)
        dirty = np.ones(len(self.lattice.machines), dtype=np.bool_)
        return windows if self.shrink(target, windows, dirty) else None

    def narrowed(self, target: int) -> tuple[Tables, Windows] | None:
        """Leave out the states that no schedule of at most `target` passes; None if the target is refuted.

        What is said of this and of shorter targets stays the same: their windows lie within those of `target`, which
        come with the tables. Tight targets leave few of the states.
        """
        windows = self.stands(target)
        if windows is None:
            return None
        sizes, counts, successors = [], [], []
        for machine, (first, last) in enumerate(pairwise(self.first_state.tolist())):
            kept = self._passed(machine, slice(first, last), target, windows)
            if kept is None:
                return None
            place = np.where(kept, np.cumsum(kept) - 1, -1)
            after = self.successors[first:last][kept]
            sizes.append(int(kept.sum()))
            counts.append(self.counts[first:last][kept])
            successors.append(np.where(after >= 0, place[after], -1).astype(np.int32))
        fewer = copy(self)
        fewer.first_state = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        fewer.counts, fewer.successors = np.concatenate(counts), np.concatenate(successors)
        fewer.forbidden = np.zeros(len(fewer.counts), dtype=np.int32)
        return fewer, windows

    def _passed(
        self, machine: int, rows: slice, target: int, windows: Windows
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
        """Tell which states of a machine some path passes at a time that windows allow; None if there is no path."""
        classes = self.classes[self.first_class[machine] : self.first_class[machine + 1]]
        outcome = machine_pass(
            target,
            self.counts[rows],
            self.successors[rows],
            self.forbidden[rows],
            classes,
            len(classes),
            self.duration,
            self.hours,
            windows.r,
            windows.q,
            self.latest,
            self.earliest,
            self.new_r,
            self.new_end,
        )
        size = rows.stop - rows.start
        passed: np.ndarray[tuple[int], np.dtype[np.bool_]] = self.earliest[:size] <= self.latest[:size]
        return passed if outcome else None
