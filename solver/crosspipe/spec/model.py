"""`Spec`: the whole of what a person writes, in YAML, JSON or Python."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from crosspipe.spec.base import Count, Index, Mb, Ms, Name, PositiveMs, SpecModel
from crosspipe.spec.cluster import Link, Site
from crosspipe.spec.stages import HuggingFaceModel, LayersModel, Microbatches, StagesModel

Auto = Literal["auto"]


class Training(SpecModel):
    """The training step: how many microbatches, of what size."""

    microbatches: Count | Microbatches | None = None
    global_batch: Count | None = None
    microbatch: Count | None = None
    sequence_length: Count | None = None
    split_backward: bool = True


class Parallel(SpecModel):
    """Degrees of parallelism; what is left out is `auto`.

    `replica_messages` says how the messages of the `data` replicas use a link that they share: `merged` sends those of
    one stage pair together as one message `data` times the size (all replicas then run the same schedule); `separate`
    models every replica, their messages taking turns.
    """

    tensor: Count | Auto = "auto"
    pipeline: Count | Auto = "auto"
    data: Count | Auto = "auto"
    replica_messages: Literal["merged", "separate"] = "merged"


class Placement(SpecModel):
    """Which stage sits on which device: a traversal, or an explicit `map` of device names, one per stage."""

    traversal: Literal["auto", "unidirectional", "loop", "wave"] = "auto"
    stages_per_device: Count = 1
    map: list[Name] | None = Field(default=None, min_length=1)


class ExtraOperation(SpecModel):
    """An operation that runs once per step: a gradient reduction, a parameter gather, a tied-embedding sum.

    It starts after all backward work of the stages in `after` and ends before the first F of the stages in `before`, in
    all replicas. It occupies a lane (`group`, `group/out`, `group/back` or `from->to`), a device, or nothing.
    """

    name: Name
    duration_ms: PositiveMs | None = None
    size_mb: Mb | None = None
    lane: Name | None = None
    device: Name | None = None
    after: list[Index] = Field(default_factory=list)
    before: list[Index] = Field(default_factory=list)


class Limits(SpecModel):
    """Limits beyond memory.

    `in_flight` caps the microbatches whose activations a stage holds (one number for all stages, or one per stage, null
    for none). `deadline_ms` bounds the makespan; `stage_deadlines_ms` bounds the end of all compute of a stage.
    """

    in_flight: Count | list[Count | None] | None = None
    deadline_ms: PositiveMs | None = None
    stage_deadlines_ms: dict[Index, PositiveMs] = Field(default_factory=dict)


class Spec(SpecModel):
    """A cluster spec: model, training shape, sites and links."""

    name: Name | None = None
    model: Name | StagesModel | LayersModel | HuggingFaceModel
    training: Training
    parallel: Parallel = Parallel()
    sites: Annotated[dict[Name, Site], Field(min_length=1)]
    links: list[Link] = Field(default_factory=list)
    placement: Placement = Placement()
    extra_operations: list[ExtraOperation] = Field(default_factory=list)
    limits: Limits = Limits()


__all__ = ["ExtraOperation", "Limits", "Ms", "Parallel", "Placement", "Spec", "Training"]
