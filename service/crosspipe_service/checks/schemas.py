"""The body of a check."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class CheckRequest(BaseModel):
    """A schedule and the spec it is meant for."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    spec: dict[str, Any]
    """The cluster spec"""
    schedule: dict[str, Any]
    """An answer of CrossPipe, or `{"operations": [[kind, stage, microbatch, replica, start_ms, end_ms?], ...]}`"""
