"""A sweep as data: its axes, every point with value and bound, and what can be read from them together.

Times are milliseconds, exact decimals of integer nanoseconds. Null means unknown, as each field says.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from crosspipe.answer.base import AnswerModel
from crosspipe.answer.models import Answer

Value = int | float | str | None
"""Where a point stands on an axis; null on a bandwidth axis = messages between sites take no time but the latency."""


class SweepAxis(AnswerModel):
    """What a sweep varies."""

    name: str = Field(description="`memory_gb`, `latency_ms`, ..., with `:place` where only one site or link varies")
    values: list[Value] = Field(description="Numbers ascending, words as given")


class SweepPoint(AnswerModel):
    """The spec at one value of each axis, and what is known of it from its own search and from its neighbours."""

    at: dict[str, Value] = Field(description="Value on each axis; null on a bandwidth axis = transfers take no time")
    reference: bool = Field(
        description="Whether it is beside the sweep: solved for the readings, with transfers that take no time"
    )
    digest: str = Field(description="Digest of the spec at this point")
    status: Literal["optimal", "feasible", "infeasible", "unknown"] = Field(description="As in an answer")
    value_ms: float | None = Field(description="Best value known; null without a schedule")
    lower_bound_ms: float | None = Field(description="No schedule can be better; null where none is known")
    gap: float | None = Field(description="(value - bound) / value")
    value_from: str | None = Field(
        description="Who made the schedule; `neighbour ...` where it is that of another point"
    )
    bound_from: str | None = Field(description="Which bound; `neighbour ...` where it is that of another point")
    explanation: str | None = Field(description="Why there is no schedule; null where there is one or none was found")
    time_limit_s: float = Field(description="Time limit of its search")
    seconds: float = Field(description="Seconds that its search took; 0 where its neighbours left nothing to search")
    answer: Answer | None = Field(
        description="The whole answer, with the value and bound above; null where the neighbours say all"
    )


class SweepReading(AnswerModel):
    """What a sweep says to a question, in figures and as a sentence; always a value of the sweep, never in between."""

    kind: Literal["memory_buys_latency", "latency_tolerated", "bandwidth_free"] = Field(
        description="The question: how much memory makes up for a latency, which latency costs nothing, from which "
        "bandwidth on transfers cost nothing; within the tolerance each"
    )
    at: dict[str, Value] = Field(description="Where it holds: a value of each other axis, and the one asked about")
    axis: str = Field(description="The axis on which the answer stands")
    value: Value = Field(description="The answer; null where no value of the sweep is one")
    reached_ms: float | None = Field(description="What the schedule at the answer takes; null without one")
    reference_ms: float | None = Field(description="What it is compared with; null where that is unknown")
    tolerance: float = Field(description="Share by which it may be longer")
    proved: bool = Field(description="Whether it holds wherever the optima lie between the values and their bounds")
    sentence: str = Field(description="The reading in words")


class Sweep(AnswerModel):
    """A spec over a grid of values."""

    name: str | None = Field(description="Name of the spec")
    digest: str = Field(description="Digest of the spec as given")
    objective: Literal["makespan", "span"] = Field(description="What was made small")
    complete: bool = Field(description="Whether every point was solved; false after a stop")
    axes: list[SweepAxis] = Field(description="What was varied")
    points: list[SweepPoint] = Field(description="Those solved, in the order of the axes, the last one fastest")
    readings: list[SweepReading] = Field(description="What can be read from the points together")


__all__ = ["Sweep", "SweepAxis", "SweepPoint", "SweepReading", "Value"]
