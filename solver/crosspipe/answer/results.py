"""What the calls beside `solve` return: a bound alone, what was derived again, what the checker says."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from crosspipe.answer.base import AnswerModel
from crosspipe.answer.models import Certificate


class BoundResult(AnswerModel):
    """What no schedule of a spec can beat, told without looking for one."""

    objective: Literal["makespan", "span"]
    infeasible: bool = Field(description="Whether it is proved that no schedule exists")
    bound_ms: float | None = Field(description="Null where no schedule exists")
    name: str | None
    where: str | None
    traversal: str | None = Field(description="Placement that the bound comes from")
    explanation: str | None = Field(description="Why no schedule exists")
    certificate: Certificate | None


class VerifyResult(AnswerModel):
    """What was derived again of an answer."""

    ok: bool = Field(description="Whether all that the answer states was derived again")
    outcome: Literal["verified", "solver alone", "refused"]
    bound_ms: float | None = Field(description="The bound that the answer states")
    derived_ms: float | None = Field(description="The bound that was derived again")
    value_ms: float | None = Field(description="Value of the schedule, measured again; null where there is none")
    reason: str


class CheckedViolation(AnswerModel):
    """One broken rule."""

    kind: str
    operations: list[str]
    where: str | None
    at_ms: float | None
    amount: float | None
    message: str


class CheckResult(AnswerModel):
    """What the checker says of a schedule."""

    ok: bool
    makespan_ms: float | None
    span_ms: float | None
    violations: list[CheckedViolation]
