"""`Spec`: the whole of what a person writes, in YAML, JSON or Python."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from crosspipe.spec import branches
from crosspipe.spec.base import Count, Flag, Index, IndexKey, Mb, Ms, Name, PositiveMs, Share, SpecModel
from crosspipe.spec.cluster import Link, Site
from crosspipe.spec.gradients import Gradients
from crosspipe.spec.stages import HuggingFaceModel, LayersModel, Microbatches, StagesModel

Auto = Literal["auto"]

Recompute = Literal["none", "selective", "full"]
"""What a stage computes again in its backward: nothing, what is cheap and large, or all but its input."""

Precision = Literal["bf16", "fp16", "fp8", "fp32"]
"""Number format of matrix products, weights and activations."""

Degree = Annotated[
    Annotated[Count, Tag(branches.COUNT)] | Annotated[Auto, Tag(branches.WORD)], Discriminator(branches.degree_tag)
]
"""A degree of parallelism, or `auto`."""


class Utilisation(SpecModel):
    """Shares of the accelerator's peak that F, B and W of an estimated model reach."""

    forward: Share = Decimal("0.4")
    """Of F."""

    backward_input: Share = Decimal("0.4")
    """Of B, the backward for the input gradient, and of what is recomputed in it."""

    backward_weight: Share = Decimal("0.4")
    """Of W, the backward for the weight gradient."""


class Training(SpecModel):
    """The training step: how many microbatches, of what size."""

    microbatches: (
        Annotated[
            Annotated[Count, Tag(branches.COUNT)] | Annotated[Microbatches, Tag(branches.UNLIKE)],
            Discriminator(branches.microbatches_tag),
        ]
        | None
    ) = None
    """Microbatches of one replica per step: a number of like ones, or the multipliers of unlike ones."""

    global_batch: Count | None = None
    """Sequences per step over all replicas, in place of `microbatches`; needs `microbatch`."""

    microbatch: Degree | None = None
    """Sequences per microbatch; `auto`, beside `global_batch` and a model whose costs are estimated: what is best."""

    sequence_length: Count | None = None
    """Tokens per sequence."""

    split_backward: Flag = True
    """Whether B and W are operations of their own; otherwise they run as one."""

    recompute: Literal["none", "selective", "full", "auto"] = "none"
    """What the stages cut from layers recompute in the backward; `auto`: each stage what is best for the whole."""

    precision: Precision = "bf16"
    """Of an estimated model. `fp8`: matrix products of the layers alone, all else as `bf16`; `fp32`: everything."""

    utilisation: Utilisation | None = None
    """Shares of the peak that an estimated model reaches; default 0.4 for F, B and W."""

    @property
    def microbatch_size(self) -> int | None:
        """Sequences per microbatch, None where that is not known, or `auto`."""
        return self.microbatch if isinstance(self.microbatch, int) else None


class Parallel(SpecModel):
    """Degrees of parallelism; what is left out is `auto`.

    `replica_messages` says how the messages of the `data` replicas use a link that they share: `merged` sends those of
    one stage pair together as one message `data` times the size (all replicas then run the same schedule); `separate`
    models every replica, their messages taking turns.
    """

    tensor: Degree = "auto"
    """Accelerators that act as one device."""

    pipeline: Degree = "auto"
    """Devices (pipeline ranks) of one replica."""

    data: Degree = "auto"
    """Replicas of the pipeline, each with its own microbatches."""

    context: Count = 1
    """Parts of a sequence: tensor x context accelerators act as one device."""

    expert: Count | None = None
    """Accelerators of a stage in one site that share its routed experts; default those of one device."""

    replica_messages: Literal["merged", "separate"] = "merged"
    """How the replicas' messages use a link that they share."""

    across_sites: Literal["pipeline", "data", "both"] = "pipeline"
    """What crosses sites: one pipeline through all of them; whole pipelines in each; or both, copies in every site."""


class Placement(SpecModel):
    """Which stage sits on which device: a traversal, or an explicit `map` of device names, one per stage."""

    traversal: Literal["auto", "unidirectional", "loop", "wave"] = "auto"
    """`unidirectional`: stage s on device s; `loop`: s mod p; `wave`: there and back; `auto`: the best of them."""

    stages_per_device: Degree = 1
    """Stages (virtual stages, chunks) that each device holds; `auto`: what is best."""

    map: Annotated[list[Name], Field(min_length=1)] | None = None
    """The device (`site/0`) of each stage, in place of a traversal."""

    layers_per_stage: Annotated[
        Annotated[Literal["auto", "even"], Tag(branches.WORD)]
        | Annotated[list[Count], Field(min_length=1), Tag(branches.LIST)],
        Discriminator(branches.cut_tag),
    ] = "auto"
    """Layers of each stage in pipeline order (a named model's head is one); `even`: by time; `auto`: what is best.

    With several stages on a device, a `map`, or an `auto` microbatch, `auto` is the even cut."""

    device_order: Literal["auto", "given", "free"] = "auto"
    """`given`: the pipeline takes the devices as written; `free`: in the best order; `auto`: free where layers are cut.

    An explicit `map` is always kept."""

    leave_unused: Flag = False
    """Whether a device may stay without stages where that is better."""


class ExtraOperation(SpecModel):
    """An operation that runs once per step: a gradient reduction, a parameter gather, a tied-embedding sum.

    It starts after all backward work of the stages in `after` and ends before the first F of the stages in `before`, in
    all replicas. It occupies a lane (`group`, `group/out`, `group/back` or `from->to`), a device, or nothing.
    """

    name: Name
    """Names the operation in the answer."""

    duration_ms: PositiveMs | None = None
    """How long it takes in ms."""

    size_mb: Mb | None = None
    """What it sends in MB, in place of a duration; needs a `lane` with a bandwidth."""

    lane: Name | None = None
    """The lane it occupies: `group/out`, `group/back`, `group` (half duplex), or `from->to`."""

    device: Name | None = None
    """The device (`site/0`) it occupies."""

    after: list[Index] = Field(default_factory=list)
    """Stages whose backward work ends before it starts."""

    before: list[Index] = Field(default_factory=list)
    """Stages whose first F starts after it ends."""


class Limits(SpecModel):
    """Limits beyond memory.

    `in_flight` caps the microbatches whose activations a stage holds (one number for all stages, or one per stage, null
    for none). `deadline_ms` bounds the makespan; `stage_deadlines_ms` bounds the end of all compute of a stage.
    """

    in_flight: (
        Annotated[
            Annotated[Count, Tag(branches.COUNT)]
            | Annotated[list[Count | None], Field(min_length=1), Tag(branches.LIST)],
            Discriminator(branches.caps_tag),
        ]
        | None
    ) = None
    """Most microbatches whose activations a stage holds; one number, or one per stage (null = no cap)."""

    deadline_ms: PositiveMs | None = None
    """Latest end of the whole step in ms."""

    stage_deadlines_ms: dict[IndexKey, PositiveMs] = Field(default_factory=dict)
    """Latest end in ms of all compute of a stage, by the stage's number."""


class Spec(SpecModel):
    """A cluster spec: model, training shape, sites and links."""

    name: Name | None = None
    """What the spec is called."""

    model: Annotated[
        Annotated[Name, Tag(branches.NAME)]
        | Annotated[StagesModel, Tag(branches.STAGES)]
        | Annotated[LayersModel, Tag(branches.LAYERS)]
        | Annotated[HuggingFaceModel, Tag(branches.CONFIG)],
        Discriminator(branches.model_tag),
    ]
    """A catalogue name, measured `stages` or `layers`, or the fields of a Hugging Face config.json."""

    training: Training
    """The training step."""

    parallel: Parallel = Parallel()
    """Degrees of parallelism."""

    sites: Annotated[dict[Name, Site], Field(min_length=1)]
    """The datacenters by name; their order is the pipeline's."""

    links: list[Link] = Field(default_factory=list)
    """The links that join sites or devices."""

    placement: Placement = Placement()
    """Which stage sits on which device."""

    gradients: Gradients | None = None
    """How the copies of every stage sum their gradients; left out, that takes no time."""

    extra_operations: list[ExtraOperation] = Field(default_factory=list)
    """Operations that run once per step."""

    limits: Limits = Limits()
    """Limits beyond memory."""


__all__ = ["ExtraOperation", "Limits", "Ms", "Parallel", "Placement", "Spec", "Training", "Utilisation"]
