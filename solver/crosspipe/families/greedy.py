"""Event-driven list scheduling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.families.dispatch import dispatch
from crosspipe.families.floor import Floor, floor_of
from crosspipe.schedule.orders import Orders

if TYPE_CHECKING:
    from crosspipe.families.settings import Settings
    from crosspipe.problem.problem import Problem


class Greedy:
    def __init__(self, problem: Problem, recomputed: frozenset[int] = frozenset()) -> None:
        self._problem = problem.recompute(recomputed) if recomputed else problem
        self._recomputed = recomputed
        self._floor = floor_of(self._problem)

    def orders(self, settings: Settings) -> Orders:
        sequences = dispatch(self._floor, self._problem.lanes, settings)
        return Orders(tuple(np.array(s, dtype=np.int64) for s in sequences), self._recomputed)


def greedy(problem: Problem, settings: Settings) -> Orders:
    return Greedy(problem).orders(settings)
