"""HiGHS on the model that PuLP writes."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import highspy

from bench.peers.solved import Solved

if TYPE_CHECKING:
    from bench.contest import Contest
    from bench.peers.milp_model import Milp

ABSOLUTE_GAP = 0.5


def solve_with_highs(milp: Milp, contest: Contest) -> Solved:
    """Solve in the time left, one thread, from the values that the variables have; write the solution into them."""
    highs = highspy.Highs()  # type: ignore[no-untyped-call]  # highspy types its calls, not this one
    options = {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0, "mip_abs_gap": ABSOLUTE_GAP}
    for option, value in options.items():
        highs.setOptionValue(option, value)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mps"
        milp.problem.writeMPS(str(path), mip=1)
        highs.readModel(str(path))
    columns = [highs.getColName(column)[1] for column in range(highs.getNumCol())]
    by_name = {variable.name: variable for variable in milp.problem.variables()}
    if milp.value.varValue is not None:
        start = highspy.HighsSolution()
        start.col_value = [float(by_name[name].varValue or 0.0) for name in columns]
        highs.setSolution(start)
    states: list[tuple[float, float | None, float | None]] = []

    def note(event: Any) -> None:
        out = event.data_out
        states.append((contest.seconds, finite(out.mip_primal_bound), finite(out.mip_dual_bound)))

    highs.cbMipImprovingSolution.subscribe(note)
    highs.cbMipLogging.subscribe(note)
    highs.setOptionValue("time_limit", max(0.1, contest.left_s))
    highs.run()
    info = highs.getInfo()
    found = info.primal_solution_status == 2  # a feasible point, in HiGHS's count
    if found:
        for name, amount in zip(columns, highs.getSolution().col_value, strict=True):
            by_name[name].varValue = amount
    infeasible = highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible
    return Solved(found, finite(info.mip_dual_bound), infeasible, tuple(states))


def finite(number: float) -> float | None:
    """Give a number unless it stands for none."""
    return number if math.isfinite(number) and abs(number) < highspy.kHighsInf else None
