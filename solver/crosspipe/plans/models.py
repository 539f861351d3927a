"""A plan as data: the arrangements of one training step on a cluster, and where the best of them changes.

Times are milliseconds of one step; every arrangement does the same work in it. Null means unknown, as each field says.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from crosspipe.answer.base import AnswerModel
from crosspipe.answer.models import Answer

Kind = Literal["pipeline", "data", "both", "site"]
"""One pipeline through the sites; whole pipelines in each; both at once; one site alone."""

PIPELINE: Kind = "pipeline"
DATA: Kind = "data"
BOTH: Kind = "both"
SITE: Kind = "site"


class Arrangement(AnswerModel):
    """One way to lay the training out over some of the sites, and the best schedule known for it."""

    name: str = Field(description="Unique within the plan: `pipeline: east, west`, `site: east`")
    kind: Kind = Field(description="What crosses sites; `site` where nothing does")
    sites: list[str] = Field(description="The sites it uses, in the order of the spec")
    devices: int | None = Field(description="Devices (tensor groups) in all; null where it is no legal spec")
    tensor: int | None = Field(description="Accelerators that act as one device")
    pipeline: int | None = Field(description="Devices of one replica")
    data: int | None = Field(description="Replicas")
    status: Literal["optimal", "feasible", "infeasible", "unknown", "not_compared"] = Field(
        description="As in an answer; `not_compared` where it is no legal spec of the same work, or no time was left"
    )
    value_ms: float | None = Field(description="Time of one step; null without a schedule")
    lower_bound_ms: float | None = Field(
        description="No schedule of this arrangement is faster; null where none is known"
    )
    gap: float | None = Field(description="(value - bound) / value")
    tokens_per_second: float | None = Field(description="Null where the sequence length is unknown")
    peak_share: float | None = Field(description="Peak / memory of the fullest device; null without limits")
    peak_memory_mb: float | None = Field(description="Most that a device holds")
    price_per_step: float | None = Field(
        description="Price of the sites used for one step; null where one is not known"
    )
    gradients_counted: bool = Field(
        description="Whether the time in which copies sum their gradients is part of the value; where it is not, the "
        "real step takes longer and the arrangement is never called the best"
    )
    reason: str | None = Field(description="Why there is no value; null where there is one")
    changes: list[str] = Field(description="How its spec differs from the one given")
    spec: dict[str, Any] | None = Field(description="Its spec, as `solve` takes it; null where none was legal")
    answer: Answer | None = Field(description="The whole answer, without operations; null without one")


class Probe(AnswerModel):
    """What is known of the two arrangements at one factor of an axis."""

    factor: float = Field(description="Of the amount in the spec")
    best_ms: float | None = Field(description="Of the plan's best arrangement; null without a schedule")
    best_bound_ms: float | None = Field(description="No schedule of it is faster; null where none is known")
    other_ms: float | None = Field(description="Of the other arrangement; null without a schedule")
    other_bound_ms: float | None = Field(description="No schedule of it is faster; null where none is known")
    faster: Literal["best", "other"] | None = Field(description="Which is faster as far as is known; null for neither")
    proved: bool = Field(description="Whether that holds for the optima: one's value is within the other's bound")


class BreakEven(AnswerModel):
    """Where the other arrangement becomes the faster one as one amount of the cluster changes."""

    axis: Literal["bandwidth", "latency", "memory"] = Field(
        description="What is multiplied: bandwidth or latency of every link between sites, memory of every device"
    )
    other: str = Field(description="Name of the arrangement that the best is held against")
    direction: Literal["less", "more"] | None = Field(description="Which way it flips; null where it does not")
    still_best: float | None = Field(
        description="Last factor known at which the best stays the best; null without a flip"
    )
    flips: float | None = Field(description="First factor known at which the other is faster; null without a flip")
    proved_still_best: float | None = Field(description="The same, proved: beyond any gap; null where none is")
    proved_flips: float | None = Field(description="The same, proved: beyond any gap; null where none is")
    skipped: str | None = Field(description="Why the axis was not looked at; null where it was")
    probes: list[Probe] = Field(description="What was solved on the way, by factor")
    sentence: str = Field(description="The whole in words")


class Worth(AnswerModel):
    """Whether more than one site is worth it."""

    verdict: Literal["yes", "no", "undecided", "one_site"] = Field(
        description="`undecided` where one of the two has no schedule known; `one_site` where the spec has no second"
    )
    several: str | None = Field(description="The best arrangement over several sites")
    single: str | None = Field(description="The best arrangement on one site")
    gain: float | None = Field(description="1 - time over several sites / time on one; negative where it is slower")
    proved: bool = Field(description="Whether the verdict holds for the optima of both")
    sentence: str = Field(description="The whole in words")


class Plan(AnswerModel):
    """The ways to lay out one training step, compared at the same work per step."""

    name: str | None = Field(description="Name of the spec")
    digest: str = Field(description="Digest of the spec as given")
    arrangements: list[Arrangement] = Field(description="Fastest first, then those without a value")
    best: str | None = Field(description="Name of the fastest arrangement whose gradients are counted; null for none")
    worth: Worth = Field(description="Whether more than one site is worth it")
    break_evens: list[BreakEven] = Field(description="Against the best one of each other kind")
    notes: list[str] = Field(description="What holds for all arrangements")
    complete: bool = Field(description="Whether all was looked at within the time limit")
    time_limit_s: float = Field(description="For everything together")
    seconds: float = Field(description="What it took")


__all__ = ["BOTH", "DATA", "PIPELINE", "SITE", "Arrangement", "BreakEven", "Kind", "Plan", "Probe", "Worth"]
