"""Deciding a target: whether there is a schedule whose makespan is at most T.

A tight target leaves every operation a narrow window, and the narrower the windows the fewer the orders that are still
open. What windows leave open is said by literals (`order_literals`), memory by counts of them (`memory_counts`).
Measured on instances with a slow hop and 1F1B's memory (8 devices, 32 microbatches): targets that start times,
cumulatives and a minute could not decide are refuted or met within seconds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from ortools.sat.python.cp_model import CpModel

from crosspipe.model.arcs import add_arcs, forward_order
from crosspipe.model.chains import chain_arcs, twin_arcs
from crosspipe.model.devices import add_devices
from crosspipe.model.extract import orders_of
from crosspipe.model.heads import heads, tails
from crosspipe.model.lanes import add_lanes
from crosspipe.model.memory import add_memory
from crosspipe.model.memory_order import memory_arcs
from crosspipe.model.order_literals import OrderLiterals
from crosspipe.model.precedence import precedence_arcs
from crosspipe.model.scale import LARGEST_HORIZON
from crosspipe.model.search import deterministic_work, search
from crosspipe.model.ticks import to_ticks
from crosspipe.model.variables import make_variables
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from ortools.sat.python.cp_model import IntVar

    from crosspipe.model.result import ModelLimits
    from crosspipe.model.search import Found
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Orders, Schedule

MOST_OPERATIONS = 4_000
MOST_PAIRS = 150_000
"""Above these, operations and pairs of them in open order, a target takes longer to write down than it is worth."""

Outcome = Literal["met", "refuted", "open", "too large"]


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What became of a target.

    Attributes
    ----------
    outcome
        `met` (by the model; only an exact replay can say so for good), `refuted` by two unlike solves, `open`, or `too
        large` to be written down.
    orders
        Of a target that is met.
    work
        Deterministic work done, as a share of what was allowed.
    """

    outcome: Outcome
    orders: Orders | None = None
    work: float = 0.0


class Targets:
    """Targets for the makespan of one problem, its recompute options applied.

    Parameters
    ----------
    problem
        The problem.
    incumbent
        A feasible schedule; targets lie below its makespan.
    """

    def __init__(self, problem: Problem, incumbent: Schedule) -> None:
        self._problem = problem
        self._ticks = to_ticks(problem, Objective.MAKESPAN, incumbent, LARGEST_HORIZON)
        ordered = chain_arcs(self._ticks) + twin_arcs(self._ticks)
        self._arcs = precedence_arcs(self._ticks) + ordered + memory_arcs(self._ticks)
        self._order = forward_order(len(problem.operations), self._arcs)
        duration = self._ticks.duration
        self._heads = heads(duration, self._arcs, self._order)
        self._tails = tails(duration, self._arcs, self._order)

    def decide(
        self,
        target_ns: int,
        windows_ns: tuple[IntArray, IntArray] | None,
        limits: ModelLimits,
        should_stop: Callable[[], bool] = lambda: False,
        counted_s: float | None = None,
    ) -> Decision:
        """Decide one target.

        Parameters
        ----------
        target_ns
            Nanoseconds.
        windows_ns
            Earliest start of each operation, and least time from its end to the target, in some schedule that meets the
            target if there is one; None if no more is known than its arcs say.
        limits
            Time (building included), workers, seed.
        should_stop
            Asked all the time; a yes ends the search.
        counted_s
            Seconds by which the work of a deterministic run is counted; those of the limits if not given.
        """
        deadline = time.monotonic() + limits.time_s
        built = self._build(self._ticks.scale.ticks(target_ns), windows_ns)
        if built == "too large":
            return Decision("too large")
        if built is None:
            return Decision("refuted")
        if should_stop():
            return Decision("open")
        model, starts = built
        most = deterministic_work(counted_s or limits.time_s, len(self._problem.operations))
        spent = 0.0
        found: Found | None = None
        for once in (False, True):
            # CP-SAT has answered a wrong INFEASIBLE before: only a second, differently presolved solve is believed.
            found = search(
                model, starts, limits, deadline, most - spent, once=once, probe=True, should_stop=should_stop
            )
            spent += found.work
            if not found.refuted:
                break
        share = min(1.0, spent / most) if most else 1.0
        if found is not None and found.refuted:
            return Decision("refuted", work=share)
        if found is None or found.starts is None:
            return Decision("open", work=share)
        return Decision("met", orders_of(self._ticks, found.starts, self._order), share)

    def _build(
        self, target: int, windows_ns: tuple[IntArray, IntArray] | None
    ) -> tuple[CpModel, list[IntVar]] | Literal["too large"] | None:
        """Write a target down; None if some operation has no start left."""
        ticks = replace(self._ticks, horizon=target)
        early, late = self._heads, self._tails
        if windows_ns is not None:
            early = np.maximum(early, ticks.scale.ticks_of(windows_ns[0]))
            late = np.maximum(late, ticks.scale.ticks_of(windows_ns[1]))
        model = CpModel()
        variables = make_variables(model, ticks, early, late, (0, target))
        if variables is None:
            return None
        latest = target - late - ticks.duration
        if ticks.due is not None:
            latest = np.minimum(latest, ticks.due - ticks.duration)
        if self._open_pairs(early, latest) > MOST_PAIRS:
            return "too large"
        literals = OrderLiterals(model, variables, ticks, early, latest)
        add_arcs(model, variables, self._arcs)
        add_devices(model, variables, ticks)
        add_lanes(model, variables, ticks)
        operations = self._problem.operations
        for device in range(len(self._problem.devices)):
            # Those with W follow from memory alone, and with all of them refuting takes twice as long.
            rows = self._problem.by_resource[device]
            literals.between(rows[operations.kind[rows] != Kind.W].tolist())
        add_memory(model, variables, ticks, literals)
        literals.link()
        return model, variables.start

    def _open_pairs(self, earliest: IntArray, latest: IntArray) -> int:
        """Count the pairs of operations of one device whose windows overlap; those in index order count, too."""
        pairs = 0
        for device in range(len(self._problem.devices)):
            rows = self._problem.by_resource[device]
            begin = np.sort(earliest[rows])
            end = latest[rows] + self._ticks.duration[rows]
            # Each operation overlaps with those that begin before it ends, less those that have ended by its begin.
            ended = np.searchsorted(np.sort(end), earliest[rows], side="right")
            pairs += int((np.searchsorted(begin, end, side="left") - ended - 1).sum()) // 2
        return pairs
