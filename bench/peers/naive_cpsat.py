"""CP-SAT as one would write it at first: intervals, no-overlap, cumulative memory; no hint, no order of microbatches.

The horizon is the total work. What CrossPipe adds to this is what the comparison measures.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from bench.measurement import Measurement
from bench.peers.judged import Unit, judged
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective
from crosspipe.schedule.orders import Orders

if TYPE_CHECKING:
    from bench.contest import Contest
    from crosspipe.problem.problem import Problem


class NaiveModel:
    """The model: one start per operation, in units."""

    def __init__(self, problem: Problem, objective: Objective, unit_ns: int) -> None:
        if problem.choices or problem.due_ns is not None or any(lane.windows for lane in problem.lanes):
            raise ValueError("the naive model knows no recompute options, deadlines or windows")
        self.problem = problem
        self.model = cp_model.CpModel()
        self._durations: list[int] = (problem.operations.duration_ns // unit_ns).tolist()
        lags: list[int] = (problem.precedences.lag_ns // unit_ns).tolist()
        self.horizon = sum(self._durations) + sum(lags)
        self.starts = [self.model.new_int_var(0, self.horizon, f"s{number}") for number in problem]
        self._ends = [start + length for start, length in zip(self.starts, self._durations, strict=True)]
        pairs = zip(problem.precedences.before.tolist(), problem.precedences.after.tolist(), lags, strict=True)
        for before, after, lag in pairs:
            self.model.add(self.starts[after] >= self._ends[before] + lag)
        if problem.chains_required:
            self._keep_order()
        self._occupy()
        self._remember()
        self._measure(objective)

    def _keep_order(self) -> None:
        """Keep the order of starts that the instance demands; where it does not, nothing is assumed."""
        for chain in self.problem.chains:
            for before, after in pairwise(chain.tolist()):
                self.model.add(self.starts[before] <= self.starts[after])

    def _occupy(self) -> None:
        for sequence in self.problem.by_resource:
            self.model.add_no_overlap(
                self.model.new_fixed_size_interval_var(self.starts[number], self._durations[number], f"i{number}")
                for number in sequence.tolist()
            )

    def _remember(self) -> None:
        held = self.problem.holdings
        for number, pool in enumerate(self.problem.pools):
            rows = np.flatnonzero((held.pool == number) & (held.amount > 0)).tolist()
            if pool.capacity is None or not rows:
                continue
            intervals = []
            for row in rows:
                start, end = self.starts[int(held.taken_by[row])], self._ends[int(held.given_by[row])]
                length = self.model.new_int_var(0, self.horizon, f"l{row}")
                intervals.append(self.model.new_interval_var(start, length, end, f"h{row}"))
            amounts = [int(held.amount[row]) for row in rows]
            self.model.add_cumulative(intervals, amounts, pool.capacity - pool.base)

    def _measure(self, objective: Objective) -> None:
        problem = self.problem
        value = self.model.new_int_var(0, self.horizon, "value")
        if objective is Objective.MAKESPAN:
            self.model.add_max_equality(value, self._ends)
        else:
            for device in range(len(problem.devices)):
                rows = problem.by_resource[device]
                rows = rows[problem.operations.kind[rows] <= Kind.BW]
                first = self.model.new_int_var(0, self.horizon, f"first{device}")
                self.model.add_min_equality(first, [self.starts[number] for number in rows.tolist()])
                for number in rows.tolist():
                    self.model.add(value >= self._ends[number] - first)
        self.model.minimize(value)


def run(contest: Contest) -> Measurement:
    """Solve by the naive model."""
    problem, objective = contest.compiled()
    unit = Unit.of(problem)
    naive = NaiveModel(problem, objective, unit.ns)
    built_s = contest.seconds
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(0.1, contest.left_s)
    solver.parameters.num_workers = contest.threads or 0
    solver.best_bound_callback = lambda bound: contest.say(None, unit.whole(bound), "CP-SAT")
    status = solver.solve(naive.model, _Teller(contest, unit))
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    value_ns = None
    if found:
        _, value_ns = judged(problem, _orders(naive, solver), objective)
    bound_ns = unit.whole(solver.best_objective_bound) if found else None
    if value_ns is not None and bound_ns is not None:
        bound_ns = min(bound_ns, value_ns)
    contest.say(value_ns, bound_ns, "CP-SAT")
    known = {cp_model.OPTIMAL: "optimal", cp_model.FEASIBLE: "feasible", cp_model.INFEASIBLE: "infeasible"}
    return Measurement(
        status=known.get(status, "unknown"),
        value_ns=value_ns,
        bound_ns=bound_ns,
        total_s=contest.seconds,
        value_from="CP-SAT" if found else None,
        bound_from="CP-SAT" if found else None,
        notes={"horizon": naive.horizon * unit.ns, "build_s": built_s},
    )


class _Teller(cp_model.CpSolverSolutionCallback):
    def __init__(self, contest: Contest, unit: Unit) -> None:
        super().__init__()
        self._contest, self._unit = contest, unit

    def on_solution_callback(self) -> None:
        """Tell a new solution."""
        bound = self._unit.whole(self.best_objective_bound)
        self._contest.say(self._unit.whole(self.objective_value), bound, "CP-SAT")


def _orders(naive: NaiveModel, solver: cp_model.CpSolver) -> Orders:
    starts = np.array([solver.value(start) for start in naive.starts], dtype=np.int64)
    # Operations of no length come before what starts with them; ties are left to the operations' numbers.
    ends = starts + (naive.problem.operations.duration_ns > 0)
    return Orders(
        tuple(
            sequence[np.lexsort((sequence, ends[sequence], starts[sequence]))] for sequence in naive.problem.by_resource
        )
    )
