"""A known schedule as a complete hint: a value for every variable, so that the search starts from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables
    from crosspipe.problem.operations import IntArray


def add_hint(model: CpModel, variables: Variables, ticks: Ticks, start: IntArray, least_goal: int) -> None:
    """Hint every variable.

    Parameters
    ----------
    model, variables, ticks
        The model, complete.
    start
        Start per operation in ticks, the image of the known schedule.
    least_goal
        Proven lower bound that the objective variable may not fall below.
    """
    end = start + ticks.duration
    for variable, value in zip(variables.start, start.tolist(), strict=True):
        model.add_hint(variable, value)
    for (taker, giver), variable in variables.held.items():
        model.add_hint(variable, int(end[giver] - start[taker]))
    for numbers, variable in variables.opening.items():
        model.add_hint(variable, int(start[list(numbers)].min()))
    goal = int(end.max())
    if ticks.objective is Objective.SPAN:
        goal = 0
        kind = ticks.problem.operations.kind
        for device, first in variables.first.items():
            rows = ticks.problem.by_resource[device]
            rows = rows[kind[rows] <= Kind.BW]
            begin, finish = (int(start[rows].min()), int(end[rows].max())) if len(rows) else (0, 0)
            model.add_hint(first, begin)
            model.add_hint(variables.last[device], finish)
            goal = max(goal, finish - begin)
    model.add_hint(variables.goal, max(goal, least_goal))
