"""What a person writes of the model: measured stages, measured layers, or an architecture."""

from __future__ import annotations

from decimal import Decimal

from pydantic import ConfigDict, Field

from crosspipe.spec.base import Count, Factor, Mb, Ms, Name, PositiveMs, SpecModel

ZERO = Decimal(0)


class RecomputeOption(SpecModel):
    """Values a stage takes if the solver chooses to recompute it (once per stage, for the whole step)."""

    activation_mb: Mb
    recompute_ms: Ms
    backward_extra_mb: Mb = ZERO


class Work(SpecModel):
    """Times, memory and messages of one stage or layer, for one microbatch.

    Either `backward_input_ms` (B, with `backward_weight_ms` for W, or alone where the weights do not train) or
    `backward_ms` (combined BW), or `frozen` (F only).
    """

    forward_ms: PositiveMs
    backward_input_ms: Ms | None = None
    backward_weight_ms: Ms | None = None
    backward_ms: Ms | None = None
    frozen: bool = False
    recompute_ms: Ms = ZERO
    activation_mb: Mb = ZERO
    retained_mb: Mb | None = None
    backward_extra_mb: Mb = ZERO
    static_mb: Mb = ZERO
    boundary_mb: Mb = ZERO
    gradient_mb: Mb | None = None


class Stage(Work):
    """One stage: a contiguous run of layers that sits on one device."""

    recompute_option: RecomputeOption | None = None
    device: Name | None = None
    layers: Name | None = None


class UniformStages(Work):
    """`count` stages of equal work."""

    count: Count
    recompute_option: RecomputeOption | None = None


class StagesModel(SpecModel):
    """The model as measured stages: a list of unlike ones, or a count of like ones."""

    stages: UniformStages | list[Stage]


class Layer(Work):
    """One layer, or `repeat` layers alike in a row."""

    name: Name | None = None
    repeat: Count = 1


class LayersModel(SpecModel):
    """The model as measured layers, in order; cut evenly by time into stages until assignment decides it."""

    layers: list[Layer] = Field(min_length=1)


class HuggingFaceModel(SpecModel):
    """A dense decoder given by the fields of its Hugging Face `config.json`; other fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    hidden_size: Count
    num_hidden_layers: Count
    num_attention_heads: Count
    num_key_value_heads: Count | None = None
    head_dim: Count | None = None
    intermediate_size: Count
    vocab_size: Count
    tie_word_embeddings: bool = False
    model_type: Name | None = None


class Microbatches(SpecModel):
    """Microbatches of unlike length: `multipliers` scale times, activations and messages."""

    multipliers: list[Factor] = Field(min_length=1)
    order: str = Field(default="free", pattern="^(free|fixed)$")


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
