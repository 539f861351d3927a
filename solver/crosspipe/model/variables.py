"""The variables of the model: when each operation starts, how long memory is held, and what is minimised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.problem.operations import NO_RESOURCE
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntervalVar, IntVar, LinearExpr

    from crosspipe.model.ticks import Ticks
    from crosspipe.problem.operations import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Variables:
    """The variables of one model, all in ticks.

    Attributes
    ----------
    start
        Start of each operation, by operation number.
    end
        `start + duration`, an expression, by operation number.
    interval
        Fixed-size interval of each operation that occupies a device or lane, None for the others.
    held
        Length of each holding with different taker and giver, by (taker, giver); filled by the memory constraints.
    opening
        For the span: the earliest start of several operations, by these; filled by the anchor.
    first, last
        For the span: first start and last end of compute per device number; empty for the makespan.
    goal
        The objective.
    """

    start: list[IntVar]
    end: list[LinearExpr]
    interval: list[IntervalVar | None]
    held: dict[tuple[int, int], IntVar]
    opening: dict[tuple[int, ...], IntVar]
    first: dict[int, IntVar]
    last: dict[int, IntVar]
    goal: IntVar


def make_variables(
    model: CpModel, ticks: Ticks, heads: IntArray, tails: IntArray, goal_range: tuple[int, int]
) -> Variables | None:
    """Create the variables, each start within `[head, horizon - tail - duration]` and before its deadline.

    Parameters
    ----------
    model
        The model to add to.
    ticks
        The problem in ticks.
    heads, tails
        Per operation, ticks.
    goal_range
        Proven lower bound and largest value of interest of the objective, ticks.

    Returns
    -------
    Variables or None
        None if some operation has no possible start at all: then no schedule exists within the horizon.
    """
    latest = ticks.horizon - tails - ticks.duration
    if ticks.due is not None:
        latest = latest.clip(max=ticks.due - ticks.duration)
    if bool((latest < heads).any()) or goal_range[0] > goal_range[1]:
        return None
    start = [model.new_int_var(low, high, "") for low, high in zip(heads.tolist(), latest.tolist(), strict=True)]
    duration = ticks.duration.tolist()
    resource = ticks.problem.operations.resource.tolist()
    interval = [
        None if where == NO_RESOURCE else model.new_fixed_size_interval_var(begin, size, "")
        for begin, size, where in zip(start, duration, resource, strict=True)
    ]
    first: dict[int, IntVar] = {}
    last: dict[int, IntVar] = {}
    if ticks.objective is Objective.SPAN:
        first = {device: model.new_int_var(0, ticks.horizon, "") for device in range(len(ticks.problem.devices))}
        last = {device: model.new_int_var(0, ticks.horizon, "") for device in range(len(ticks.problem.devices))}
    return Variables(
        start=start,
        end=[begin + size for begin, size in zip(start, duration, strict=True)],
        interval=interval,
        held={},
        opening={},
        first=first,
        last=last,
        goal=model.new_int_var(*goal_range, ""),
    )
