"""The Zero Bubble paper's MILP, solved by CBC and by HiGHS from a simple start, as in the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.measurement import Measurement
from bench.peers.cbc import solve_with_cbc
from bench.peers.families import simple_start
from bench.peers.highs import solve_with_highs
from bench.peers.judged import Unit, judged
from bench.peers.milp_model import build
from bench.peers.stage_view import KINDS, stage_view
from crosspipe.problem.operations import Kind
from crosspipe.schedule.joint import join_lanes

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.contest import Contest
    from bench.peers.milp_model import Milp
    from bench.peers.solved import Solved
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders, Schedule


def run_cbc(contest: Contest) -> Measurement:
    """Solve by CBC."""
    return _run(contest, solve_with_cbc, "CBC")


def run_highs(contest: Contest) -> Measurement:
    """Solve by HiGHS."""
    return _run(contest, solve_with_highs, "HiGHS")


def _run(contest: Contest, solve: Callable[[Milp, Contest], Solved], name: str) -> Measurement:
    problem, objective = contest.compiled()
    unit = Unit.of(problem)
    view = stage_view(problem, unit.ns)
    start = _start(problem, objective)
    if start is not None:
        contest.say(start[1], None, "start")
    worst = _total(problem) if start is None else start[1]
    milp = build(view, objective, worst // unit.ns)
    if start is not None:
        fill_in(milp, problem, start[0], start[1])
    built_s = contest.seconds
    solved = solve(milp, contest)
    for at_s, value, bound in solved.states:
        contest.say(None if value is None else unit.whole(value), None if bound is None else unit.up(bound), name, at_s)
    value_ns = None if start is None else start[1]
    if solved.found:
        _, own_ns = judged(problem, _orders(milp, problem), objective)
        value_ns = own_ns if value_ns is None else min(value_ns, own_ns)
    bound_ns = None if solved.bound is None else unit.up(solved.bound)
    if value_ns is not None and bound_ns is not None:
        bound_ns = min(bound_ns, value_ns)
    contest.say(value_ns, bound_ns, name)
    status = "unknown" if value_ns is None else "optimal" if value_ns == bound_ns else "feasible"
    if solved.infeasible:
        status = "infeasible"
    return Measurement(
        status=status,
        value_ns=value_ns,
        bound_ns=bound_ns,
        total_s=contest.seconds,
        value_from=name if solved.found else "start",
        bound_from=None if bound_ns is None else name,
        notes={
            "binaries": len(milp.first),
            "rows": milp.problem.numConstraints(),
            "build_s": built_s,
            "start_ns": None if start is None else start[1],
        },
    )


def _total(problem: Problem) -> int:
    """Everything one after the other: a makespan that is reached for sure."""
    return int(problem.operations.duration_ns.sum() + problem.precedences.lag_ns.sum())


def _start(problem: Problem, objective: Objective) -> tuple[Schedule, int] | None:
    best = simple_start(problem, objective)
    return None if best is None or best.orders is None else judged(problem, best.orders, objective)


def fill_in(milp: Milp, problem: Problem, schedule: Schedule, value_ns: int) -> None:
    """Give every variable the value it has in a schedule."""
    unit_ns = milp.view.unit_ns

    def end(kind: Kind, stage: int, microbatch: int) -> int:
        return int(schedule.end_ns[problem.numbers[kind, 0, stage, microbatch]]) // unit_ns

    for (stage, kind, j), variable in milp.ends.items():
        variable.setInitialValue(end(kind, stage, j))
    for (boundary, kind, j), variable in milp.sent.items():
        variable.setInitialValue(end(Kind.ACTIVATION if kind == Kind.F else Kind.GRADIENT, boundary, j))
    for (stage, one, two), variable in milp.first.items():
        variable.setInitialValue(int(end(one[0], stage, one[1]) < end(two[0], stage, two[1])))
    milp.value.setInitialValue(value_ns // unit_ns)


def _orders(milp: Milp, problem: Problem) -> Orders:
    """Read the order of passes from the ends; every pass takes at least one unit."""
    sequences = []
    for stage in range(milp.view.stages):
        ends = [
            (float(milp.ends[stage, kind, j].value() or 0.0), int(problem.numbers[kind, 0, stage, j]))
            for kind in KINDS
            for j in range(milp.view.microbatches)
        ]
        sequences.append(np.array([number for _, number in sorted(ends)], dtype=np.int64))
    return join_lanes(problem, sequences)
