"""One CP-SAT model of cut, device order and schedule together, for small specs.

A literal for every stage, run of items, class of devices and way of recomputing says that the stage is that run there.
Durations, memory and hops of the stage are sums over its literals, and the schedule of all microbatches is built on
them: intervals of variable length without overlap on every stage, as each has a device of its own, and memory as
cumulative demands that the literals choose.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Literal

from ortools.sat.python import cp_model

from crosspipe.model.joint_scope import refusal
from crosspipe.problem.operations import Kind
from crosspipe.problem.space import UNREACHABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crosspipe.problem.space import Run, Space
    from crosspipe.spec.model import Recompute

MOST_LITERALS = 5_000
LARGEST_TIME = 2**40
LARGEST_AMOUNT = 2**20
"""Times and amounts in their common units may be as large as this: beyond, products leave 64 bits."""

Status = Literal["optimal", "feasible", "infeasible", "unknown"]
StageChoice = tuple[int, int, "Recompute"]
"""Class of the stage's device, the item it ends before, what it recomputes."""


@dataclass(frozen=True, slots=True)
class JointResult:
    """What the model came to.

    Attributes
    ----------
    status
        `optimal` and `infeasible` are proved.
    stages
        The best assignment found, None without one.
    value_ns, bound_ns
        Makespan of its best schedule, and what no assignment can beat.
    """

    status: Status
    stages: tuple[StageChoice, ...] | None
    value_ns: int | None
    bound_ns: int | None


@dataclass(frozen=True, slots=True)
class _Choice:
    first: int
    end: int
    place: int
    way: Recompute
    run: Run
    literal: cp_model.IntVar


def solve_jointly(space: Space, most_ns: int, time_limit_s: float, workers: int = 1, seed: int = 0) -> JointResult:
    """Find the best assignment with its schedule, and a bound over all.

    Parameters
    ----------
    space
        The open assignment; `refusal` must have nothing against it.
    most_ns
        A makespan that some schedule keeps, or one that none exceeds that is worth having.
    time_limit_s, workers, seed
        Of CP-SAT.

    Raises
    ------
    ValueError
        If the model does not apply, or its numbers are too large.
    """
    reason = refusal(space)
    if reason is not None:
        raise ValueError(reason)
    joint = _Joint(space, most_ns)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = time_limit_s
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    code = solver.solve(joint.model)
    status: Status = "optimal" if code == cp_model.OPTIMAL else "feasible" if code == cp_model.FEASIBLE else "unknown"
    if code == cp_model.INFEASIBLE:
        return JointResult("infeasible", None, None, None)
    bound = max(0, round(solver.best_objective_bound)) * joint.tick_ns
    if status == "unknown":
        return JointResult("unknown", None, None, bound)
    stages: tuple[StageChoice, ...] = tuple(
        next((one.place, one.end, one.way) for one in row if solver.boolean_value(one.literal)) for row in joint.choices
    )
    return JointResult(status, stages, round(solver.objective_value) * joint.tick_ns, bound)


class _Joint:
    """The model under construction."""

    def __init__(self, space: Space, most_ns: int) -> None:
        self.space, self.model = space, cp_model.CpModel()
        self.choices = [self._literals(stage) for stage in range(space.devices)]
        self._join()
        every = [one for row in self.choices for one in row]
        self._hops = [self._hops_after(stage) for stage in range(space.devices - 1)]
        self._amount = _unit(amount for one in every for amount in (*one.run.amounts, one.run.free_bytes or 0))
        times = [one.run.times_ns for one in every]
        hops = [value for hop in self._hops for pair in hop.values() for value in pair]
        self.tick_ns = _unit([*(value for row in times for value in row), *hops])
        self.horizon = most_ns // self.tick_ns
        if self.horizon > LARGEST_TIME:
            raise ValueError("times are too large for one model")
        self._makespan = self.model.new_int_var(0, self.horizon, "makespan")
        self._starts: list[dict[Kind, list[cp_model.IntVar]]] = []
        self._ends: list[dict[Kind, list[cp_model.IntVar]]] = []
        for stage in range(space.devices):
            self._schedule(stage)
        for stage in range(space.devices - 1):
            self._messages(stage)
        self.model.minimize(self._makespan)

    def _literals(self, stage: int) -> list[_Choice]:
        space, found = self.space, []
        before, after = stage, space.devices - stage - 1
        for first in range(before, space.items - after) if stage else (0,):
            for end in range(first + 1, space.items - after + 1) if after else (space.items,):
                if not space.allows(first, end):
                    continue
                for place in (stage,) if space.given_order else range(len(space.classes)):
                    for way in space.ways(first, end):
                        run = space.run(first, end, place, way)
                        if run.in_flight:
                            literal = self.model.new_bool_var(f"{stage}: {first}-{end} on {place} {way}")
                            found.append(_Choice(first, end, place, way, run, literal))
        if len(found) > MOST_LITERALS:
            raise ValueError("there are too many runs for one model")
        return found

    def _join(self) -> None:
        """One run for every stage, each begun where the one before ends, no device twice."""
        for row in self.choices:
            self.model.add_exactly_one(one.literal for one in row)
        for stage, (row, following) in enumerate(zip(self.choices, self.choices[1:], strict=False)):
            for item in range(stage + 1, self.space.items):
                ends = [one.literal for one in row if one.end == item]
                begins = [one.literal for one in following if one.first == item]
                self.model.add(sum(ends) == sum(begins))
        for place, devices in enumerate(self.space.classes):
            on = [one.literal for row in self.choices for one in row if one.place == place]
            self.model.add(sum(on) <= len(devices.devices))

    def _sum(self, stage: int, value: Callable[[Run], int], unit: int) -> cp_model.IntVar:
        """Give what the run of a stage has of something, in whole units."""
        row = self.choices[stage]
        numbers = [value(one.run) // unit for one in row]
        total = self.model.new_int_var(min(numbers, default=0), max(numbers, default=0), "")
        self.model.add(total == sum(number * one.literal for number, one in zip(numbers, row, strict=True)))
        return total

    def _schedule(self, stage: int) -> None:
        model, horizon = self.model, self.horizon
        row = self.choices[stage]
        kinds = [Kind.F]
        if any(one.run.trains for one in row):
            kinds.append(Kind.B)
        if any(one.run.weight_ns for one in row):
            kinds.append(Kind.W)
        lengths = {
            Kind.F: self._sum(stage, lambda run: run.forward_ns, self.tick_ns),
            Kind.B: self._sum(stage, lambda run: run.backward_ns, self.tick_ns),
            Kind.W: self._sum(stage, lambda run: run.weight_ns, self.tick_ns),
        }
        starts: dict[Kind, list[cp_model.IntVar]] = {}
        ends: dict[Kind, list[cp_model.IntVar]] = {}
        intervals = []
        for kind in kinds:
            starts[kind], ends[kind] = [], []
            for number in range(self.space.microbatches):
                start, end = (model.new_int_var(0, horizon, f"{side} {kind.name}{stage},{number}") for side in "se")
                intervals.append(model.new_interval_var(start, lengths[kind], end, ""))
                starts[kind].append(start)
                ends[kind].append(end)
                model.add(end <= self._makespan)
                if number:
                    model.add(start >= ends[kind][number - 1])
            if kind is not Kind.F:
                before = Kind.F if kind is Kind.B else Kind.B
                for end, start in zip(ends[before], starts[kind], strict=True):
                    model.add(start >= end)
        model.add_no_overlap(intervals)
        self._starts.append(starts)
        self._ends.append(ends)
        self._memory(stage, kinds)

    def _memory(self, stage: int, kinds: Sequence[Kind]) -> None:
        """Hold activations: a part until the end of B, the rest to the end, more from the start of B."""
        row = self.choices[stage]
        if all(one.run.free_bytes is None for one in row):
            return
        most = max(sum(one.run.amounts) for one in row) * self.space.microbatches
        room = self._sum(stage, lambda run: most if run.free_bytes is None else min(most, run.free_bytes), self._amount)
        starts, ends = self._starts[stage], self._ends[stage]
        backward = Kind.B if Kind.B in kinds else Kind.F
        intervals, demands = [], []
        for part, (taken, given) in enumerate(((Kind.F, backward), (Kind.F, kinds[-1]), (backward, kinds[-1]))):
            if not any(one.run.amounts[part] for one in row):
                continue
            demand = self._sum(stage, lambda run, part=part: run.amounts[part], self._amount)  # type: ignore[misc]
            for start, end in zip(starts[taken], ends[given], strict=True):
                length = self.model.new_int_var(0, self.horizon, "")
                intervals.append(self.model.new_interval_var(start, length, end, ""))
                demands.append(demand)
        if max(most // self._amount, 1) > LARGEST_AMOUNT:
            raise ValueError("amounts of memory are too fine for one model")
        self.model.add_cumulative(intervals, demands, room)

    def _hops_after(self, stage: int) -> dict[tuple[int, int, int], tuple[int, int]]:
        """Hops there and back for each item a stage may end before and each pair of classes."""
        found = {}
        ends = {(one.end, one.place) for one in self.choices[stage]}
        nexts = {(one.first, one.place) for one in self.choices[stage + 1]}
        for end, sender in ends:
            for first, receiver in nexts:
                if first == end:
                    there = self.space.hop_ns(end, sender, receiver, "none", Kind.ACTIVATION)
                    trains = self.space.run(end - 1, end, sender, "none").trains
                    back = self.space.hop_ns(end, sender, receiver, "none", Kind.GRADIENT) if trains else 0
                    if max(there, back) < UNREACHABLE:
                        found[end, sender, receiver] = there, back
        return found

    def _messages(self, stage: int) -> None:
        model = self.model
        there, back = (model.new_int_var(0, self.horizon, f"hop {stage} {way}") for way in ("on", "back"))
        on = [self._by(self.choices[stage], lambda one: (one.end, one.place))]
        on.append(self._by(self.choices[stage + 1], lambda one: (one.first, one.place)))
        for (end, sender), here in on[0].items():
            for (first, receiver), next_ in on[1].items():
                if first != end:
                    continue
                hop = self._hops[stage].get((end, sender, receiver))
                if hop is None:
                    model.add_bool_or(here.negated(), next_.negated())
                    continue
                for variable, value in zip((there, back), hop, strict=True):
                    if value:
                        model.add(variable >= value // self.tick_ns).only_enforce_if([here, next_])
        for number in range(self.space.microbatches):
            lower, upper = self._ends[stage], self._starts[stage + 1]
            model.add(upper[Kind.F][number] >= lower[Kind.F][number] + there)
            if Kind.B in upper and Kind.B in lower:
                model.add(self._starts[stage][Kind.B][number] >= self._ends[stage + 1][Kind.B][number] + back)

    def _by(
        self, row: Sequence[_Choice], key: Callable[[_Choice], tuple[int, int]]
    ) -> dict[tuple[int, int], cp_model.IntVar]:
        """Make a literal for each item and class that a stage may have at one of its ends."""
        groups: dict[tuple[int, int], list[cp_model.IntVar]] = {}
        for one in row:
            groups.setdefault(key(one), []).append(one.literal)
        found = {}
        for name, literals in groups.items():
            found[name] = self.model.new_bool_var("")
            self.model.add(sum(literals) == found[name])
        return found


def _unit(values: Iterable[int]) -> int:
    return gcd(*values) or 1


__all__ = ["JointResult", "solve_jointly"]
