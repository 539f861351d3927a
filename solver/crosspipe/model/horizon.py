"""How late any operation need ever end: the horizon of the model.

Claim (makespan, and any order-based replay). A schedule in which nothing can start earlier, its orders kept, ends by

    L + sum of durations + sum over operations of the largest lag before it + sum over transfers of the lane's period

where L is the last edge of any one-off closed window. Proof: from the last operation walk back through what held it:
an operation that ended (plus its lag), or, for a transfer, a window. An operation is met at most once. Past L only
periodic windows hold a transfer, and if it fits anywhere in a period at all, it fits within one period of being ready.

Claim (span). Among schedules of the smallest span there is one that ends by the same sum without periods, as long as
no lane has a periodic window. The horizon must not be the incumbent's makespan: a smaller span may take a longer
makespan. Proof: fix the orders and the span S. The least solution of the constraints (precedences, orders, windows, and
`first start >= last end - S` per device) is at most any solution. One solution is the least solution of the
same constraints without windows, moved to start at L. Without windows all constraints are differences, the least
solution is a longest path, simple as no cycle is positive, and edges `-S` only shorten it.

Claim (span, periodic windows). Let P be the least common multiple of the periods. With D devices and N transfers on
lanes with periodic windows there is one that ends by the same sum plus `(N + D) * P`. Proof: take the least solution
again, and a stretch after L in which nothing runs and no message is under way. It lasts less than P: otherwise all
after it could move P earlier, which keeps all phases and lengthens no span. What ends it is an operation that waits for
neither an operation nor a message: a transfer that waits for its lane, or the first operation of a device.
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def serial_horizon_ns(problem: Problem, objective: Objective) -> int:
    """Bound the end of some optimal schedule in nanoseconds, whatever the orders (proof above).

    Parameters
    ----------
    problem
        The problem; windows that are only slower are not counted, as the model runs them at full rate.
    objective
        What is minimised.
    """
    ops, links = problem.operations, problem.precedences
    lag = np.zeros(len(ops), dtype=np.int64)
    np.maximum.at(lag, links.after, links.lag_ns)
    total: int = sum(ops.duration_ns.tolist()) + sum(lag.tolist()) + last_edge_ns(problem)
    periods = periods_ns(problem)
    if not periods:
        return total
    if objective is Objective.SPAN:
        waiting = sum(len(problem.by_resource[lane]) for lane in periods)
        return total + (waiting + len(problem.devices)) * lcm(*periods.values())
    return total + sum(len(problem.by_resource[lane]) * period for lane, period in periods.items())


def last_edge_ns(problem: Problem) -> int:
    """Last edge of a one-off closed window, 0 if there is none; one that never ends holds nothing after its start."""
    edges = [
        window.start_ns if window.end_ns is None else window.end_ns
        for lane in problem.lanes
        for window in lane.windows
        if window.rate_bps == 0 and window.period_ns is None
    ]
    return max(edges, default=0)


def periods_ns(problem: Problem) -> dict[int, int]:
    """Period by resource number of the lanes with periodic closed windows; a common one where there are several."""
    found: dict[int, int] = {}
    for number, lane in enumerate(problem.lanes, start=len(problem.devices)):
        periods = {w.period_ns for w in lane.windows if w.rate_bps == 0 and w.period_ns is not None}
        if periods:
            found[number] = lcm(*periods)
    return found
