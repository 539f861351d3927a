"""What is minimised.

Makespan: `goal >= end_i + tail_i` for every operation i (a tail is 0 for the last ones; the others are implied, and
give the solver's bound a shorter reason).
Span: `goal >= last_d - first_d` for every device d, `first_d <= start_i` and `last_d >= end_i` for its compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables
    from crosspipe.problem.operations import IntArray


def add_objective(model: CpModel, variables: Variables, ticks: Ticks, tails: IntArray) -> None:
    """Ensure that `goal` is at least the objective of the schedule, and minimise it."""
    if ticks.objective is Objective.MAKESPAN:
        _add_makespan(model, variables, tails)
    else:
        _add_span(model, variables, ticks)
    model.minimize(variables.goal)


def _add_makespan(model: CpModel, variables: Variables, tails: IntArray) -> None:
    for end, tail in zip(variables.end, tails.tolist(), strict=True):
        model.add(variables.goal >= end + tail)


def _add_span(model: CpModel, variables: Variables, ticks: Ticks) -> None:
    kind = ticks.problem.operations.kind
    for device, first in variables.first.items():
        rows = ticks.problem.by_resource[device]
        last = variables.last[device]
        for number in rows[kind[rows] <= Kind.BW].tolist():
            model.add(first <= variables.start[number])
            model.add(last >= variables.end[number])
        model.add(variables.goal >= last - first)
