"""What an answer tells of the cut of the layers and their devices."""

from __future__ import annotations

from pydantic import Field

from crosspipe.answer.base import AnswerModel


class OtherCut(AnswerModel):
    """Another assignment that was looked at."""

    layers_per_stage: list[int]
    devices: list[str]
    value_ms: float | None = Field(description="Value of the best schedule known for it; null where none is known")
    lower_bound_ms: float | None = Field(description="What none of its schedules can beat; null if none can exist")
    cost_ms: float | None = Field(description="By how much that value is worse than the answer's")


class RuleCutRow(AnswerModel):
    """The cut of a rule that others use, on the devices in the user's order."""

    rule: str
    layers_per_stage: list[int] | None = Field(description="Null where the rule has no cut")
    value_ms: float | None = Field(description="Value of the best schedule known for it, in the time that it got")
    gain: float | None = Field(description="1 - value of the answer / value of the rule's cut")
    reason: str | None = Field(description="Why the rule has no cut, or no schedule")


class Cut(AnswerModel):
    """How the layers came to their stages and devices."""

    layers_per_stage: list[int]
    considered: int = Field(description="Assignments for which schedules were made")
    rest_bound_ms: float | None = Field(
        description="What no schedule of any other assignment can beat; null where none of them can beat the answer"
    )
    runner_up: OtherCut | None = Field(description="The next best assignment; null if there was no other")
    rules: list[RuleCutRow]
