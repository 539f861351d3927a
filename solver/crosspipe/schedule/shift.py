"""The same orders, with activations held as short as they allow: each F delayed as far as that pays.

With the orders fixed, the start times of all schedules of no larger value are those that keep difference constraints
(`shift_network.py`). The time in flight is a sum over F's and the operations that give their activations back,
`sum t(closing) - t(F)` and a constant, so the least is a linear programme. Delaying F's alone, the closing operations
where they are, is one backward pass; it is not always the least, as one W that waits may let several F's before it wait
as well. So the pass is only the start: a flow goes on from there (`shift_flow.py`).

Transfers on lanes with windows stay where they were, as waiting depends on the time of day there; so the least is that
among schedules with these times of theirs. Memory follows from the orders (see `replay`), but is measured again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import NeverOpensError
from crosspipe.problem.problem import Objective
from crosspipe.schedule.graph import Graph
from crosspipe.schedule.in_flight import flights, in_flight_ns
from crosspipe.schedule.measure import compute_rows, fits, makespan_ns, peaks, value_ns
from crosspipe.schedule.replay import resolved, run
from crosspipe.schedule.shift_flow import Flow
from crosspipe.schedule.shift_network import Network

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule


@dataclass(frozen=True, slots=True)
class Shifted:
    """A schedule with F's delayed.

    Attributes
    ----------
    schedule
        The orders given, with times of the same value, or the schedule given where nothing was gained.
    in_flight_ns
        Its time in flight, of all microbatches on all stages together.
    least
        Whether no times of these orders (with transfers on lanes with windows as they are) and this value give less.
    """

    schedule: Schedule
    in_flight_ns: int
    least: bool


def hold_shorter(
    problem: Problem, schedule: Schedule, objective: Objective, go_on: Callable[[int], bool] | None = None
) -> Shifted:
    """Delay F's so that activations are held as short as the orders and the value of a schedule allow.

    Parameters
    ----------
    problem, schedule
        A schedule that fits, at the times of `timed`.
    objective
        Its value stays as it is; the makespan never grows.
    go_on
        Told the number of arcs looked at since it was last asked; once it says no, what was reached is returned. None
        to go on until it is the least.
    """
    problem = resolved(problem, schedule.orders)
    graph = Graph(problem, schedule.orders)
    forwards, closing = flights(problem)
    network = Network(problem, schedule, objective, graph)
    times = network.delayed(schedule.start_ns, closing)
    least = False
    if go_on is None or go_on(2 * network.size):
        flow = Flow(network, times, forwards.tolist(), closing.tolist())
        least = flow.settle(go_on)
        times = flow.times
    found = _released(problem, schedule, objective, graph, (forwards, times))
    before = in_flight_ns(problem, schedule)
    if found is None:
        return Shifted(schedule, before, least=False)
    after = in_flight_ns(problem, found)
    return Shifted(found, after, least) if after < before else Shifted(schedule, before, least)


def _released(
    problem: Problem, schedule: Schedule, objective: Objective, graph: Graph, held: tuple[IntArray, list[int]]
) -> Schedule | None:
    """Start no F before its time, all else as early as that allows; None unless all that was kept is kept."""
    forwards, times = held
    release_ns = np.zeros(len(problem.operations), dtype=np.int64)
    release_ns[forwards] = np.array(times, dtype=np.int64)[forwards]
    if objective is Objective.SPAN:
        # Whatever else may come first on a device is not started sooner than it was.
        firsts = [rows[0] for rows in compute_rows(problem, schedule) if len(rows)]
        release_ns[firsts] = np.maximum(release_ns[firsts], schedule.start_ns[firsts])
    try:
        found = run(problem, schedule.orders, graph, release_ns)
    except NeverOpensError:
        return None
    same = value_ns(problem, found, objective) <= value_ns(problem, schedule, objective)
    same = same and makespan_ns(found) <= makespan_ns(schedule) and fits(problem, found)
    rises = any(
        after.amount > before.amount
        for before, after in zip(peaks(problem, schedule), peaks(problem, found), strict=True)
    )
    return found if same and not rises else None
