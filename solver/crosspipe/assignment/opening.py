"""What a spec leaves open of its assignment, handed to the search piece by piece: best bound first, then neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.assignment.moves import neighbours
from crosspipe.assignment.paths import Paths
from crosspipe.assignment.positions import positions_of
from crosspipe.assignment.rules import RuleCut, rule_cuts
from crosspipe.assignment.tables import NEVER, Tables
from crosspipe.bounds.bound import Bound
from crosspipe.costs.layers import MeasuredLayers
from crosspipe.costs.stages import MeasuredStages
from crosspipe.problem.compile import compile_spec
from crosspipe.problem.rounding import to_ns
from crosspipe.problem.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crosspipe.costs.assignment import Assignment
    from crosspipe.costs.preparation import Preparation
    from crosspipe.problem.problem import Problem
    from crosspipe.spec.model import Recompute

NAME = "assignments"
WHERE = "every cut and device order that was not searched"

MOST_EQUAL = 200
"""Assignments as good that are looked at for one with no more crossings."""


@dataclass(slots=True)
class Opening:
    """The open assignment of a spec as a supply of problems.

    Attributes
    ----------
    preparation, digest
        The spec, and what its problems carry as its name.
    rules
        What the rules of others cut, in the order in which their problems are given.
    assignments
        The assignment of each problem given out, in order.
    """

    preparation: Preparation
    digest: str
    space: Space
    rules: tuple[RuleCut, ...] = ()
    assignments: list[Assignment] = field(default_factory=list)
    _tables: Tables | None = None
    _paths: Paths | None = None
    _known: set[Assignment] = field(default_factory=set)
    _near: Iterator[Assignment] | None = None
    _base: Assignment | None = None
    _value_ns: int = NEVER
    _least_ns: int | None = 0
    _turn: int = 0
    _equals: Paths | None = None

    def first(self, starts: Sequence[Assignment]) -> list[Problem]:
        """Give the problems to begin with: those of `starts`, and of the rules."""
        even, *others = rule_cuts(self.preparation)
        self.rules = (even, *map(self._permitted, others))
        cuts = [cut.assignment for cut in self.rules if cut.assignment is not None]
        wanted = [*filter(self.space.permits, starts), *cuts]
        # Where recomputation is open each rule gets what is best for it of the same on every stage.
        wanted += [alike for cut in cuts for alike in self.uniform(cut) if self.space.permits(alike)]
        return [self._problem(assignment) for assignment in dict.fromkeys(wanted)]

    def uniform(self, assignment: Assignment) -> list[Assignment]:
        """List a cut with each way of recomputing on all its stages, as far as they have it."""
        found = []
        for way in self.space.open_ways:
            each = [self.space.ways(first, end) for first, end in assignment.runs]
            found.append(replace(assignment, recompute=tuple(way if way in ways else ways[0] for ways in each)))
        return list(dict.fromkeys(found))

    def _permitted(self, cut: RuleCut) -> RuleCut:
        if cut.assignment is None or self.space.permits(cut.assignment):
            return cut
        return RuleCut(cut.rule, None, "the spec leaves no such cut open")

    def bound(self) -> Bound | None:
        """Bound every assignment not given out; None where none of them can beat what is known."""
        return None if self._least_ns is None else Bound(self._least_ns, NAME, WHERE)

    def tighten(self, value_ns: int | None, out_of_time: Callable[[], bool]) -> None:
        """Bound the rest anew, for schedules below `value_ns` that meet the deadline."""
        deadline_ms = self.preparation.spec.limits.deadline_ms
        cap = NEVER - 1 if value_ns is None else value_ns
        if deadline_ms is not None:
            cap = min(cap, to_ns(deadline_ms) + 1)
        if cap >= self._value_ns and self._tables is not None:
            return
        self._value_ns = cap
        if self._tables is None:
            positions = positions_of(self.space)
            if positions is None:
                self._least_ns = self.space.least_load_ns()
                return
            # The first table holds every run that may be part of a schedule as good as the one known.
            self._tables = Tables(self.space, positions, cap)
        least = self._tables.tighten(cap - 1, out_of_time)
        if least is None:
            self._least_ns, self._paths = None, None
            return
        self._paths = Paths(self._tables)
        self._least_ns = max(least, self._least_ns or 0)

    def more(self, best: int | None, out_of_time: Callable[[], bool]) -> Problem | None:
        """Give the next problem: by turns one straight away, a neighbour of the best, and the least bound of all."""
        self._turn += 1
        if self._paths is not None and self._turn % 3 == 1 and not out_of_time():
            straight = self._paths.dive(self._turn)
            if straight is not None and straight not in self._known and self._worth(straight):
                return self._problem(straight)
        if best is not None and self._turn % 3 != 0:
            base = self.assignments[best]
            if base != self._base:
                self._base, self._near = base, neighbours(base, self.space)
            for assignment in self._near or ():
                if assignment not in self._known and self._worth(assignment):
                    return self._problem(assignment)
        while self._paths is not None:
            found = self._paths.next(out_of_time)
            if found is None:
                least_ns = self._paths.least_ns
                self._least_ns = None if least_ns is None else max(least_ns, self._least_ns or 0)
                return None
            assignment, least = found
            self._least_ns = max(least, self._least_ns or 0)
            if assignment not in self._known:
                return self._problem(assignment)
        return None

    def equal(self, value_ns: int, crossings: int, out_of_time: Callable[[], bool]) -> Problem | None:
        """Give an assignment not given out yet that may be as good, with at most as many changes of site."""
        if self._equals is None:
            if self._tables is None or self._tables.tighten(value_ns, out_of_time) is None:
                return None
            self._equals = Paths(self._tables)
        for _ in range(MOST_EQUAL):
            found = self._equals.next(out_of_time)
            if found is None:
                return None
            if found[0] not in self._known and self._crossings(found[0]) <= crossings:
                return self._problem(found[0])
        return None

    def _crossings(self, assignment: Assignment) -> int:
        sites = [self.space.ranks[device].site for device in assignment.devices]
        return sum(a != b for a, b in pairwise(sites))

    def _worth(self, assignment: Assignment) -> bool:
        """Whether its own numbers allow an assignment to beat what is known."""
        return self._tables is None or self._tables.least_of(assignment) < self._value_ns

    def _problem(self, assignment: Assignment) -> Problem:
        problem = compile_spec(self.preparation.expand(assignment).spec, self.digest)[0]
        self._known.add(assignment)
        self.assignments.append(assignment)
        return problem


def opening_of(preparation: Preparation, digest: str) -> Opening | None:
    """Find what a spec leaves open of its assignment; None if nothing is, or more stages than one sit on a device."""
    spec = preparation.spec
    placement = spec.placement
    cut_open = placement.layers_per_stage == "auto" and preparation.source.longest_run > 1
    free = placement.device_order == "free" or (placement.device_order == "auto" and cut_open)
    single = (
        placement.stages_per_device == 1 and placement.map is None and placement.traversal in ("auto", "unidirectional")
    )
    recompute_open = spec.training.recompute == "auto" and preparation.source.longest_run > 1
    if not single or not (cut_open or free or recompute_open or placement.leave_unused):
        return None
    if len(preparation.even().ends) != len(preparation.devices):
        return None
    if isinstance(preparation.source, MeasuredStages) and any(stage.device for stage in preparation.source.given):
        return None
    if cut_open and _waits_for_backwards(preparation):
        return None
    ways: tuple[Recompute, ...] = ("none", "selective", "full")
    if spec.training.recompute != "auto":
        ways = (spec.training.recompute,)
    cut = None if cut_open else preparation.even().runs
    return Opening(preparation, digest, Space(preparation, given_order=not free, ways=ways, cut=cut))


def _waits_for_backwards(preparation: Preparation) -> bool:
    """Whether an extra operation waits for the backward of a stage that some cut may leave none."""
    frozen = isinstance(preparation.source, MeasuredLayers) and any(
        numbered.layer.frozen for numbered in preparation.source.layers
    )
    return frozen and any(extra.after for extra in preparation.spec.extra_operations)


__all__ = ["Opening", "opening_of"]
