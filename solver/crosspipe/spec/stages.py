"""What a person writes of the model: measured stages, measured layers, or an architecture."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from crosspipe.spec import branches
from crosspipe.spec.base import Count, Factor, Flag, Index, Mb, Millions, Ms, Name, PositiveMs, SpecModel
from crosspipe.spec.branches import COUNT, LIST, stages_tag

ZERO = Decimal(0)


class RecomputeOption(SpecModel):
    """Values a stage takes if the solver chooses to recompute it (once per stage, for the whole step)."""

    activation_mb: Mb
    """Memory taken at the start of F, in MB, in place of the stage's own."""

    recompute_ms: Ms
    """Time in ms added to the backward."""

    backward_extra_mb: Mb = ZERO
    """Memory in MB taken at the start of the backward and given back at the end of W."""


class Work(SpecModel):
    """Times, memory and messages of one stage or layer, for one microbatch.

    Either `backward_input_ms` (B, with `backward_weight_ms` for W, or alone where the weights do not train) or
    `backward_ms` (combined BW), or `frozen` (F only).
    """

    forward_ms: PositiveMs
    """Time of F in ms."""

    backward_input_ms: Ms | None = None
    """Time of B, the backward for the input gradient, in ms; alone (no W) where the weights do not train."""

    backward_weight_ms: Ms | None = None
    """Time of W, the backward for the weight gradient, in ms."""

    backward_ms: Ms | None = None
    """Time of BW, the combined backward, in ms."""

    frozen: Flag = False
    """F only: no backward, activations are given back at the end of F."""

    recompute_ms: Ms = ZERO
    """Time in ms by which recomputation lengthens the backward."""

    activation_mb: Mb = ZERO
    """Memory in MB taken at the start of F."""

    retained_mb: Mb | None = None
    """The part of `activation_mb`, in MB, kept from the end of B to the end of W; default all of it."""

    backward_extra_mb: Mb = ZERO
    """Memory in MB taken at the start of the backward and given back at the end of W."""

    static_mb: Mb = ZERO
    """Memory in MB held all the time: weights, gradients, optimizer state."""

    boundary_mb: Mb = ZERO
    """Message to the next stage in MB."""

    gradient_mb: Mb | None = None
    """Message back from the next stage in MB; default that of `boundary_mb`."""

    weights_mb: Mb | None = None
    """Weights as `gradients` gathers them, in MB, of the whole device (all accelerators of a tensor group)."""

    reduced_mb: Mb | None = None
    """What `gradients` sums over the copies, in MB, of the whole device; default that of `weights_mb`."""


class Stage(Work):
    """One stage: a contiguous run of layers that sits on one device."""

    recompute_option: RecomputeOption | None = None
    """Other values that the solver may choose for this stage."""

    device: Name | None = None
    """The device (`site/0`) this stage sits on; given for all stages or none."""

    layers: Name | None = None
    """The layers it holds, in words; told back in the answer."""


class UniformStages(Work):
    """`count` stages of equal work."""

    count: Count
    """Number of stages."""

    recompute_option: RecomputeOption | None = None
    """Other values that the solver may choose, for each stage apart."""


class StagesModel(SpecModel):
    """The model as measured stages: a list of unlike ones, or a count of like ones."""

    stages: Annotated[
        Annotated[UniformStages, Tag(COUNT)] | Annotated[list[Stage], Field(min_length=1), Tag(LIST)],
        Discriminator(stages_tag),
    ]
    """A list of stages in pipeline order, or `count` like ones."""


class Layer(Work):
    """One layer, or `repeat` layers alike in a row.

    `selective` and `full` are what the layer takes where its stage recomputes: they stand in place of its own
    `activation_mb`, `recompute_ms` and `backward_extra_mb`. A layer without them keeps its own.
    """

    name: Name | None = None
    """What the layer is called in the answer."""

    repeat: Count = 1
    """Number of such layers in a row."""

    group: Name | None = None
    """Neighbouring layers of one group are never cut apart."""

    site: Name | None = None
    """The site that the layer's stage must sit in."""

    device: Name | None = None
    """The device (`site/0`) that the layer's stage must sit on."""

    tied: Name | None = None
    """Layers of one name share all their weights: a stage holds them once, stages sum their gradients once per step."""

    parameters_m: Millions | None = None
    """Parameters in millions; give `static_mb`, `weights_mb` and `reduced_mb` where those are left out."""

    selective: RecomputeOption | None = None
    """The values where the stage recomputes what is cheap and large."""

    full: RecomputeOption | None = None
    """The values where the stage recomputes all but its input."""


class LayersModel(SpecModel):
    """The model as measured layers, in order; cut into stages between them, but not inside a `group`."""

    layers: Annotated[list[Layer], Field(min_length=1)]
    """The layers in order, embedding and head included."""


class HuggingFaceModel(SpecModel):
    """A decoder given by the fields of its Hugging Face `config.json`; other fields are ignored."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _named_as_elsewhere(cls, value: object) -> object:
        """Read the names of GPT-2's configuration as those of the rest; its MLP is four times as wide by default."""
        return branches.plain_config(value)

    hidden_size: Count
    """Width of the residual stream."""

    num_hidden_layers: Count
    """Number of decoder layers."""

    num_attention_heads: Count
    """Number of query heads."""

    num_key_value_heads: Count | None = None
    """Number of key and value heads; default that of the query heads."""

    head_dim: Count | None = None
    """Width of a head; default `hidden_size / num_attention_heads`."""

    intermediate_size: Count
    """Width of the feed-forward network."""

    vocab_size: Count
    """Number of tokens in the vocabulary."""

    tie_word_embeddings: Flag = False
    """Whether embedding and head share their weights."""

    model_type: Name | None = None
    """The family's name, such as `llama`."""

    num_local_experts: Index | None = None
    """Experts per layer as Mixtral counts them, each `intermediate_size` wide."""

    num_experts: Index | None = None
    """Experts per layer as Qwen counts them."""

    n_routed_experts: Index | None = None
    """Experts per layer as DeepSeek counts them, shared ones apart."""

    num_experts_per_tok: Count | None = None
    """Experts that each token is sent to."""

    moe_intermediate_size: Count | None = None
    """Width of one expert."""

    n_shared_experts: Index | None = None
    """Experts that every token runs, each `moe_intermediate_size` wide."""

    shared_expert_intermediate_size: Index | None = None
    """Width of the expert that every token runs, as Qwen gives it."""

    first_k_dense_replace: Index | None = None
    """Layers before the first one with experts."""

    moe_layer_freq: Count = 1
    """Every how many layers one has experts; only 1 is estimated."""

    decoder_sparse_step: Index = 1
    """The same as Qwen names it."""

    mlp_only_layers: list[Index] = Field(default_factory=list)
    """Layers without experts; only none are estimated."""

    q_lora_rank: Index | None = None
    """Width of the narrow vector of the queries in latent attention."""

    kv_lora_rank: Count | None = None
    """Width of the narrow vector of keys and values; given, attention is latent."""

    qk_nope_head_dim: Count | None = None
    """Width of a head's key without position in latent attention."""

    qk_rope_head_dim: Count | None = None
    """Width of the rotated part of a key in latent attention."""

    v_head_dim: Count | None = None
    """Width of a head's value in latent attention."""

    num_nextn_predict_layers: Index | None = None
    """Layers of multi-token prediction behind the last one."""

    n_positions: Index | None = None
    """Learned positions as GPT-2 counts them; those of others are ignored."""


class Microbatches(SpecModel):
    """Microbatches of unlike length: `multipliers` scale times, activations and messages."""

    multipliers: Annotated[list[Factor], Field(min_length=1)]
    """One factor per microbatch; it scales F, B, W, recompute, activations and transfers."""

    order: Literal["free", "fixed"] = "free"
    """`free`: the schedule may reorder microbatches; `fixed`: everything runs in list order."""


__all__ = [
    "HuggingFaceModel",
    "Layer",
    "LayersModel",
    "Microbatches",
    "RecomputeOption",
    "Stage",
    "StagesModel",
    "UniformStages",
    "Work",
]
