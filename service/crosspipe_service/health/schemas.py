"""What the service says of itself."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Work(BaseModel):
    """How much of one kind of work there is."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    running: int
    """Pieces that run now"""
    waiting: int
    """Pieces that wait for their turn"""
    places: int
    """Pieces that can run at a time"""


class Health(BaseModel):
    """The state of the service."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    status: Literal["ok"]
    version: str
    """Version of CrossPipe"""
    solves: Work
    checks: Work
