"""The greedy: list scheduling that never waits for itself, with any memory limits, windows and shared lanes.

Devices decide whenever they fall idle or something arrives for them; a message takes the earliest gap of its lane. On
every stage and kind the microbatches run in one order. For identical ones this loses nothing: give the starts of each
class, sorted, to the microbatches in order, and busy times, memory and precedences stay as they were.

Why no pass gets stuck: let c be the oldest microbatch of a replica with compute left, and o the first operation of c's
way that is not done. Nothing before it is missing, so o becomes ready; its device has run all operations of older
microbatches, so o is the next of its class; and `reserve` shows that o fits, after the W's that are owed, which can
always run. No rule that holds an operation back (patience, gap, depth, memory kept free) does so for ever: waits end at
a known arrival, and the others do not bind the oldest microbatch of a device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.families.dispatch import dispatch
from crosspipe.families.floor import floor_of
from crosspipe.families.verdict import require_routes
from crosspipe.schedule.orders import Orders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.families.settings import Settings
    from crosspipe.problem.problem import Problem


class Greedy:
    """A problem laid out once for many passes.

    Raises
    ------
    DoesNotFitError
        If a hop has no route, or one microbatch does not fit on a device alone: then no schedule exists.
    """

    def __init__(
        self, problem: Problem, recomputed: frozenset[int] = frozenset(), order: Sequence[int] | None = None
    ) -> None:
        require_routes(problem)
        self._recomputed = recomputed | problem.recomputed
        self._problem = problem.recompute(recomputed) if recomputed and not problem.recomputed else problem
        self._floor = floor_of(self._problem, order)

    def orders(self, settings: Settings) -> Orders:
        """Make one pass; its orders keep every capacity.

        Raises
        ------
        DoesNotFitError
            If a lane never again opens for long enough.
        """
        sequences = dispatch(self._floor, self._problem.lanes, settings)
        return Orders(tuple(np.array(sequence, dtype=np.int64) for sequence in sequences), self._recomputed)


def greedy(
    problem: Problem,
    settings: Settings,
    recomputed: frozenset[int] = frozenset(),
    order: Sequence[int] | None = None,
) -> Orders:
    """Make one pass over a problem.

    Parameters
    ----------
    problem
        The problem.
    settings
        The rules of the pass.
    recomputed
        Stages that take their recompute option.
    order
        Order of the microbatches on every device, None for the order given; only for microbatches without a required
        order.

    Raises
    ------
    DoesNotFitError
        If a hop has no route, one microbatch alone does not fit on a device, or a lane never again opens.
    """
    return Greedy(problem, recomputed, order).orders(settings)
