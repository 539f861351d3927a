"""The query parameters of a solve."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from crosspipe.search.options import MOST_WORKERS


class SolveQuery(BaseModel):
    """How to solve; what to solve is the body."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    time_limit_s: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Seconds from the validated spec to the answer; 0 returns the construction. Settings hold default and largest"""
    objective: Literal["makespan", "span"] = "makespan"
    """What is made small: the last end of any operation, or the longest time a device is in use"""
    relative_gap: float = Field(default=0, ge=0, le=1, allow_inf_nan=False)
    """Stop once (value - lower bound) / value is at most this; 0 asks for a proof"""
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    """Seed of every random choice"""
    workers: int | None = Field(default=None, ge=1, le=MOST_WORKERS)
    """Threads of the solver; unset, the cores are shared among the solves that run"""
    deterministic: bool = False
    """Same answer for the same OR-Tools version and number of workers"""
    detail: Literal["summary", "orders", "full"] = "orders"
    """`summary`: values and peaks; `orders`: with every operation and transfer; `full`: with memory curves too"""
