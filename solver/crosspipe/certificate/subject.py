"""A problem as a certificate speaks of it: choices settled, waits and times looked up once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from crosspipe.certificate.held import held_by_stage
from crosspipe.certificate.reading import equal, text
from crosspipe.certificate.relaxation import settled
from crosspipe.certificate.times import Times, times_of_schedule, times_on_device
from crosspipe.certificate.verdict import RefusedError
from crosspipe.certificate.waits import Waits
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.certificate.held import Held
    from crosspipe.certificate.reading import Part
    from crosspipe.certificate.verdict import Budget
    from crosspipe.problem.problem import Problem


class Subject:
    """One problem under one objective; what is derived is kept."""

    def __init__(self, problem: Problem, objective: Objective, budget: Budget) -> None:
        self.given = problem
        self.problem = settled(problem, {})
        self.objective, self.budget = objective, budget
        self._on_device: dict[int, Times] = {}

    def case(self, case: Mapping[int, bool]) -> Subject:
        """Take the same with some recompute choices settled."""
        subject = Subject(self.given, self.objective, self.budget)
        subject.problem = settled(self.given, case)
        return subject

    @cached_property
    def waits(self) -> Waits:
        """Which operation waits for which."""
        return Waits(self.problem, self.budget)

    @cached_property
    def held(self) -> dict[int, list[Held]]:
        """What each pool holds for each stage."""
        return held_by_stage(self.problem)

    @cached_property
    def _of_schedule(self) -> Times:
        return times_of_schedule(self.problem, self.waits, self.budget)

    def times(self, resource: int) -> Times:
        """Heads and tails that count for a bound which argues on one device or lane."""
        if self.objective is Objective.MAKESPAN:
            return self._of_schedule
        if resource >= len(self.problem.devices):
            raise RefusedError("a lane says nothing of the span")
        if resource not in self._on_device:
            self._on_device[resource] = times_on_device(self.problem, self.waits, resource, self.budget)
        return self._on_device[resource]

    def resource(self, part: Part) -> int:
        """Read the device or lane of an argument, which `where` must name as well."""
        number = part["resource"]
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < self.problem.resources:
            raise RefusedError("resource must be the number of a device or lane")
        if text(part, "where") != self.problem.resource_name(number):
            raise RefusedError(f"resource {number} is {self.problem.resource_name(number)}, not what is named")
        return number

    def device(self, part: Part) -> int:
        """Read the device of an argument."""
        number = self.resource(part)
        if number >= len(self.problem.devices):
            raise RefusedError("resource must be a device")
        return number

    def stage(self, part: Part, device: int) -> int:
        """Read the stage of an argument, which must be on the device."""
        number = part["stage"]
        if isinstance(number, bool) or not isinstance(number, int) or number not in self.problem.devices[device].stages:
            raise RefusedError(f"stage must be one on {self.problem.resource_name(device)}")
        return number

    def compute(self, device: int) -> list[int]:
        """Compute operations of a device."""
        rows = self.problem.by_resource[device]
        numbers: list[int] = rows[self.problem.operations.kind[rows] <= Kind.BW].tolist()
        return numbers


def stated(part: Part, value: int) -> int:
    """Hold the bound that an argument states against what its numbers add up to."""
    return equal(part, "bound_ns", value)
