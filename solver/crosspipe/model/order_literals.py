"""Literals that say which of two operations of a device goes first.

For u and v on one device, `before(u, v)` is a literal with

    before(u, v)       =>  start(v) >= end(u)
    not before(u, v)   =>  start(u) >= end(v)

and true or false where their windows leave no choice. Learning on these literals is what lets CP-SAT refute a target:
on start times alone it would have to learn one tick at a time. Along a chain they fall together: what goes before an
operation goes before those after it in the chain, and so do those before it in its own (`link`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.model.chains import in_order
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import BoolVarT, CpModel

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables
    from crosspipe.problem.operations import IntArray

_STEP = {int(Kind.F): 0, int(Kind.B): 1, int(Kind.BW): 1, int(Kind.W): 2}
"""Place of each kind of compute among those of its microbatch on its stage."""


class OrderLiterals:
    """The literals of one model, made as they are asked for.

    Parameters
    ----------
    model, variables, ticks
        The model to add to, its variables, the problem in its units.
    earliest, latest
        Window of the start of each operation, ticks.
    """

    def __init__(
        self, model: CpModel, variables: Variables, ticks: Ticks, earliest: IntArray, latest: IntArray
    ) -> None:
        self._model, self._start, self._ticks = model, variables.start, ticks
        self._duration: list[int] = ticks.duration.tolist()
        self._earliest: list[int] = earliest.tolist()
        self._latest: list[int] = latest.tolist()
        self._known: dict[tuple[int, int], BoolVarT] = {}
        self._in_order = in_order(ticks.problem)
        ops = ticks.problem.operations
        self._class: list[tuple[int, int]] = list(zip(ops.stage.tolist(), ops.replica.tolist(), strict=True))
        self._place: list[tuple[int | None, int]] = [
            (_STEP.get(kind), microbatch)
            for kind, microbatch in zip(ops.kind.tolist(), ops.microbatch.tolist(), strict=True)
        ]

    def before(self, first: int, second: int) -> BoolVarT | bool:
        """Literal of `first` before `second`, two operations of one device, both of positive length."""
        known = self._known.get((first, second))
        if known is not None:
            return known
        settled = self._by_index(first, second) if self._in_order else None
        if settled is not None:
            return settled
        if self._earliest[first] + self._duration[first] > self._latest[second]:
            return False
        if self._earliest[second] + self._duration[second] > self._latest[first]:
            return True
        literal = self._model.new_bool_var("")
        start, duration = self._start, self._duration
        self._model.add(start[second] >= start[first] + duration[first]).only_enforce_if(literal)
        self._model.add(start[first] >= start[second] + duration[second]).only_enforce_if(~literal)
        self._known[first, second] = literal
        self._known[second, first] = ~literal
        return literal

    def between(self, operations: list[int]) -> None:
        """Make the literals of all pairs of these operations of one device whose windows leave their order open."""
        busy = sorted((op for op in operations if self._duration[op] > 0), key=self._earliest.__getitem__)
        for place, first in enumerate(busy):
            for second in busy[place + 1 :]:
                if self._earliest[second] >= self._latest[first] + self._duration[first]:
                    break
                self.before(first, second)

    def _by_index(self, first: int, second: int) -> bool | None:
        """Tell by index order alone; None if it does not say. On one stage F(j), B(j), W(j) follow each other."""
        if self._class[first] != self._class[second]:
            return None
        (step, index), (other_step, other_index) = self._place[first], self._place[second]
        if step is None or other_step is None:
            return None
        if step <= other_step and index <= other_index:
            return True
        return False if step >= other_step and index >= other_index else None

    def link(self) -> None:
        """Add what index order implies between the literals made so far."""
        if not self._in_order:
            return
        following = {u: v for chain in self._ticks.problem.chains for u, v in pairwise(chain.tolist())}
        for (first, second), literal in list(self._known.items()):
            later = self._known.get((following.get(first, -1), second))
            if later is not None:
                self._model.add_implication(later, literal)
            later = self._known.get((first, following.get(second, -1)))
            if later is not None:
                self._model.add_implication(literal, later)
