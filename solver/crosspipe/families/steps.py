"""Device orders in the words of a family, and the operations they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crosspipe.errors import DoesNotFitError
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem


class Step(NamedTuple):
    """One operation of a device order; `kind` F, B (input gradient or combined) or W."""

    kind: Kind
    stage: int
    microbatch: int


DeviceOrders = list[list[Step]]
"""Per device index (within a replica), its steps in order. A step that a stage does not have is passed over, so that a
family need not know of frozen stages or of stages whose weights are."""


def sequences_of(problem: Problem, orders: DeviceOrders) -> list[IntArray]:
    """Operation numbers per device, the same order in every replica."""
    found = []
    for device, where in enumerate(problem.devices):
        steps = orders[device % problem.devices_per_replica]
        numbers = (_number(problem, step, where.replica) for step in steps)
        found.append(np.array([number for number in numbers if number is not None], dtype=np.int64))
    return found


def _number(problem: Problem, step: Step, replica: int) -> int | None:
    number = problem.number(step.kind, step.stage, step.microbatch, replica)
    if number is None and step.kind == Kind.B:
        return problem.number(Kind.BW, step.stage, step.microbatch, replica)
    return number


def stages_by_device(problem: Problem) -> list[tuple[int, ...]]:
    """Stages of each device index."""
    return [device.stages for device in problem.devices[: problem.devices_per_replica]]


def require_one_stage_per_device(problem: Problem) -> None:
    """Require that no device holds several stages.

    Raises
    ------
    DoesNotFitError
        Naming the first device that does.
    """
    for device in problem.devices:
        if len(device.stages) > 1:
            raise DoesNotFitError(
                f"needs one stage per device; {device.name} holds {len(device.stages)} (traversal: {problem.traversal})"
            )


def require_split(problem: Problem) -> None:
    """Require that no backward is combined and that some stage has a W.

    Raises
    ------
    DoesNotFitError
        Naming the first stage with a combined backward.
    """
    for stage in range(len(problem.stages)):
        if problem.number(Kind.BW, stage, 0) is not None:
            raise DoesNotFitError(f"needs B and W apart; the backward of stage {stage} is combined")
    if not any(has_weight(problem)):
        raise DoesNotFitError("needs B and W apart; no stage has a W")


def has_weight(problem: Problem) -> Sequence[bool]:
    """Whether each stage has W's."""
    return [problem.number(Kind.W, stage, 0) is not None for stage in range(len(problem.stages))]
