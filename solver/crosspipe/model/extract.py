"""From start times back to orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.schedule.orders import Orders

if TYPE_CHECKING:
    from crosspipe.model.ticks import Ticks
    from crosspipe.problem.operations import IntArray


def orders_of(ticks: Ticks, start: IntArray, order: IntArray) -> Orders:
    """Sort each device's and lane's operations by start.

    Operations of length 0 (in ticks) can share a start. Ties go to the earlier end, then to the earlier place in
    `order`. This is a total order in which every arc points forward: an arc between equal starts has length 0, so what
    comes first is empty and ends no later. So the orders cannot deadlock.

    Parameters
    ----------
    ticks
        The problem in ticks.
    start
        Start per operation, ticks.
    order
        Operation numbers such that every precedence and chain points forward.
    """
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    place = np.lexsort((rank, start + ticks.duration, start))
    resource = ticks.problem.operations.resource[place]
    sequences = tuple(place[resource == number] for number in range(ticks.problem.resources))
    return Orders(sequences, ticks.problem.recomputed)
