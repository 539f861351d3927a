"""CBC, as PuLP bundles it; what it tells while it runs is read from its log afterwards."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pulp  # type: ignore[import-untyped]  # PuLP has no types

from bench.peers.solved import Solved

if TYPE_CHECKING:
    from bench.contest import Contest
    from bench.peers.milp_model import Milp

ABSOLUTE_GAP = 0.5
NUMBER = r"(-?[\d.]+(?:e[+-]?\d+)?)"
SOLUTION = re.compile(rf"Integer solution of {NUMBER} found .*\({NUMBER} seconds\)")
PROGRESS = re.compile(rf"{NUMBER} best solution, best possible {NUMBER} \({NUMBER} seconds\)")
FINAL_BOUND = re.compile(rf"^Lower bound:\s+{NUMBER}", re.MULTILINE)
FINAL_VALUE = re.compile(rf"^Objective value:\s+{NUMBER}", re.MULTILINE)
NO_VALUE = 1e40
"""CBC writes 1e+50 where it has none."""


class CbcEndedError(RuntimeError):
    """CBC came to nothing, by an error or before its first solution."""


def solve_with_cbc(milp: Milp, contest: Contest) -> Solved:
    """Solve in the time left, one thread, from the values that the variables have."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "cbc.log"
        solver = pulp.COIN_CMD(
            path=pulp.PULP_CBC_CMD.pulp_cbc_path,
            msg=False,
            timeLimit=max(0.1, contest.left_s),
            gapAbs=ABSOLUTE_GAP,
            warmStart=milp.value.varValue is not None,
            logPath=str(log),
        )
        solver.tmpDir = folder
        began_s = contest.seconds
        try:
            milp.problem.solve(solver)
        except pulp.PulpSolverError as error:
            raise CbcEndedError("CBC ended without an answer") from error  # PuLP's words name a path of the machine
        text = log.read_text()
    infeasible = milp.problem.status == pulp.LpStatusInfeasible and "stopped" not in text.lower()
    found = milp.problem.sol_status in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible)
    return Solved(found, _bound(text), infeasible, tuple(states(text, began_s)))


def _bound(text: str) -> float | None:
    """Bound at the end: told if the solver was stopped, else the value itself less the gap at which it may stop."""
    if told := FINAL_BOUND.search(text):
        return float(told[1])
    value = FINAL_VALUE.search(text)
    if value and "Optimal solution found" in text:
        return float(value[1]) - ABSOLUTE_GAP
    return None


def states(text: str, began_s: float) -> list[tuple[float, float | None, float | None]]:
    """Read solutions and bounds, with their times, from a log."""
    found: list[tuple[float, float | None, float | None]] = []
    for line in text.splitlines():
        if match := SOLUTION.search(line):
            found.append((began_s + float(match[2]), float(match[1]), None))
        elif match := PROGRESS.search(line):
            value, bound = float(match[1]), float(match[2])
            found.append((began_s + float(match[3]), value if value < NO_VALUE else None, bound))
    return found
