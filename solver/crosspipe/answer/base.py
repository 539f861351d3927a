"""What all parts of an answer have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class AnswerModel(BaseModel):
    """A frozen part of an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")
