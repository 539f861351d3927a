"""Measured stages with every field set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.costs.assumption import Assumption
from crosspipe.spec.stages import Stage, StagesModel, UniformStages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from crosspipe.costs.degrees import Degrees
    from crosspipe.spec.model import Recompute


@dataclass(frozen=True, slots=True)
class MeasuredStages:
    """Stages as the user measured them, all fields set, and what had to be filled in."""

    given: tuple[Stage, ...]
    filled: tuple[Assumption, ...]

    @property
    def largest_stage_count(self) -> int:
        """Measured stages are neither cut nor joined."""
        return len(self.given)

    @property
    def item_count(self) -> int:
        """Pieces that are never cut: the stages themselves."""
        return len(self.given)

    @property
    def longest_run(self) -> int:
        """Most items in one stage: measured stages are not joined."""
        return 1

    def recompute_ways(self, first: int, end: int) -> tuple[Recompute, ...]:  # noqa: ARG002  # options stay the solver's
        """List what a stage may recompute by assignment: nothing, as options of measured stages are the search's."""
        return ("none",)

    def runs(self, factors: Sequence[Fraction]) -> tuple[range, ...]:  # noqa: ARG002  # as measured
        """Give each stage as a run of its own."""
        return tuple(range(number, number + 1) for number in range(len(self.given)))

    def stage(
        self,
        first: int,
        end: int,  # noqa: ARG002  # one stage is one item
        degrees: Degrees,  # noqa: ARG002  # as measured
        recompute: Recompute = "none",  # noqa: ARG002  # as measured
    ) -> Stage:
        """Return a stage as given."""
        return self.given[first]

    def assumptions(self, degrees: Degrees) -> tuple[Assumption, ...]:  # noqa: ARG002  # as measured
        """Tell which fields were filled in."""
        return self.filled


def measured_stages(model: StagesModel) -> MeasuredStages:
    """List the stages, a count of like ones written out, `retained_mb` and `gradient_mb` resolved."""
    stages = _listed(model.stages)
    filled: list[Assumption] = []
    if any(stage.retained_mb is None for stage in stages):
        why = "the part that W needs; all of it is safe"
        filled.append(Assumption("/model/stages", "retained_mb = activation_mb", why, "retained_mb of the stage"))
    if any(stage.gradient_mb is None for stage in stages):
        why = "a gradient has the shape of its activation"
        filled.append(Assumption("/model/stages", "gradient_mb = boundary_mb", why, "gradient_mb of the stage"))
    return MeasuredStages(tuple(_resolved(stage) for stage in stages), tuple(filled))


def _listed(stages: UniformStages | list[Stage]) -> list[Stage]:
    if isinstance(stages, list):
        return stages
    like = Stage.model_validate(stages.model_dump(exclude={"count"}))
    return [like] * stages.count


def _resolved(stage: Stage) -> Stage:
    return stage.model_copy(
        update={
            "retained_mb": stage.activation_mb if stage.retained_mb is None else stage.retained_mb,
            "gradient_mb": stage.boundary_mb if stage.gradient_mb is None else stage.gradient_mb,
        }
    )
