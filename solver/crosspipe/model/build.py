"""A model from its parts: one module per group of constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ortools.sat.python.cp_model import CpModel

from crosspipe.errors import DeadlockError
from crosspipe.model.anchor import add_anchor, find_anchor
from crosspipe.model.arcs import add_arcs, forward_order
from crosspipe.model.chains import chain_arcs
from crosspipe.model.devices import add_devices
from crosspipe.model.heads import heads, tails
from crosspipe.model.hint import add_hint
from crosspipe.model.lanes import add_lanes
from crosspipe.model.load import load
from crosspipe.model.memory import add_memory
from crosspipe.model.memory_order import memory_arcs
from crosspipe.model.objective import add_objective
from crosspipe.model.precedence import precedence_arcs
from crosspipe.model.scale import LARGEST_HORIZON
from crosspipe.model.ticks import to_ticks
from crosspipe.model.variables import make_variables
from crosspipe.schedule.measure import value_ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Schedule


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A model ready to solve.

    Attributes
    ----------
    model, variables, ticks
        The CP-SAT model, its variables, and the problem in its units.
    order
        Operation numbers such that every precedence and chain points forward; breaks ties between equal starts.
    """

    model: CpModel
    variables: Variables
    ticks: Ticks
    order: IntArray


def build(
    problem: Problem,
    objective: Objective,
    incumbent: Schedule | None,
    lower_bound_ns: int,
    go_on: Callable[[], bool],
    *,
    largest: int = LARGEST_HORIZON,
    better: bool = False,
) -> Built | Literal["impossible", "stopped"]:
    """Build the model; `impossible` if it is plain that no schedule exists, `stopped` if `go_on` said no.

    Parameters
    ----------
    problem
        The problem, recompute options applied.
    objective
        What is minimised.
    incumbent
        A feasible schedule or None: hint, and upper limit of the objective.
    lower_bound_ns
        Proven lower bound of the objective.
    go_on
        Asked between the parts.
    largest
        Most ticks the horizon may have.
    better
        If true, only schedules better than the incumbent are of interest, and there is no hint; the scale must turn
        out exact.
    """
    if any(hop.missing for hop in problem.hops):
        return "impossible"
    ticks = to_ticks(problem, objective, incumbent, largest)
    try:
        waits = precedence_arcs(ticks) + chain_arcs(ticks)
        arcs = waits + memory_arcs(ticks)
        order = forward_order(len(problem.operations), arcs)
    except DeadlockError:
        return "impossible"
    head, tail = heads(ticks.duration, arcs, order), tails(ticks.duration, arcs, order)
    least = max(ticks.scale.ticks(lower_bound_ns), load(ticks, head, tail))
    # Where lanes are slower at times even the shortest schedule may outlast the model's, whose lanes never are.
    most = max(ticks.horizon, ticks.scale.ticks(lower_bound_ns))
    if incumbent is not None:
        known_ns = value_ns(problem, incumbent, objective)
        most = min(most, ticks.scale.ticks(known_ns - 1) if better else ticks.scale.ceiling(known_ns, objective))
    anchor = find_anchor(ticks, arcs, order)
    if anchor is not None and incumbent is not None and not anchor.holds(incumbent.start_ns):
        anchor = None
    model = CpModel()
    variables = make_variables(model, ticks, head, tail, (least, most))
    if variables is None:
        return "impossible"
    parts: tuple[Callable[[], None], ...] = (
        lambda: add_arcs(model, variables, arcs),
        lambda: None if anchor is None else add_anchor(model, variables, ticks, anchor),
        lambda: add_devices(model, variables, ticks),
        lambda: add_lanes(model, variables, ticks),
        lambda: add_memory(model, variables, ticks),
        lambda: add_objective(model, variables, ticks, tail),
    )
    for part in parts:
        if not go_on():
            return "stopped"
        part()
    if incumbent is not None and not better:
        moved_ns = 0 if anchor is None else anchor.moved_ns(incumbent.start_ns)
        add_hint(model, variables, ticks, ticks.scale.ticks_of(incumbent.start_ns - moved_ns), least)
    return Built(model, variables, ticks, order)
