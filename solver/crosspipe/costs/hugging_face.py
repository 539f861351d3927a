"""A Hugging Face `config.json` as an architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.costs.architecture import Architecture
from crosspipe.errors import Fault, SpecError

if TYPE_CHECKING:
    from crosspipe.spec.stages import HuggingFaceModel

NOT_DENSE = ("moe", "mixtral", "deepseek_v2", "deepseek_v3", "dbrx", "jamba", "mamba", "llama4")
"""Parts of a `model_type` that is no dense decoder: the estimate would be several times off."""

TWO_MATRICES = frozenset({"gpt_neox", "gpt_bigcode", "phi", "starcoder2", "nemotron"})
"""The `model_type`s whose MLP has no gate."""

QKV_BIAS = frozenset({"qwen2"})
"""The gated `model_type`s whose query, key and value projections have biases."""


def architecture_of(model: HuggingFaceModel, pointer: str = "/model") -> Architecture:
    """Read the shape of a dense decoder from the fields of its configuration.

    Raises
    ------
    SpecError
        If the heads do not divide evenly, or the model is a mixture of experts or no transformer at all.
    """
    heads = model.num_attention_heads
    kv_heads = model.num_key_value_heads or heads
    kind = (model.model_type or "").lower()
    faults = []
    if any(part in kind for part in NOT_DENSE):
        rule = "only dense decoders are estimated; give a mixture of experts as measured `layers` or `stages`"
        faults.append(Fault(f"{pointer}/model_type", rule, kind))
    if heads % kv_heads:
        rule = f"num_key_value_heads divides num_attention_heads = {heads}"
        nearest = min((k for k in range(1, heads + 1) if heads % k == 0), key=lambda k: abs(k - kv_heads))
        faults.append(Fault(f"{pointer}/num_key_value_heads", rule, str(kv_heads), str(nearest)))
    if model.head_dim is None and model.hidden_size % heads:
        rule = f"num_attention_heads = {heads} divides hidden_size, unless `head_dim` is given"
        nearest = max(1, round(model.hidden_size / heads)) * heads
        faults.append(Fault(f"{pointer}/hidden_size", rule, str(model.hidden_size), str(nearest)))
    if faults:
        raise SpecError(faults)
    return Architecture(
        name=kind or "the given configuration",
        hidden=model.hidden_size,
        layers=model.num_hidden_layers,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=model.head_dim or model.hidden_size // heads,
        ffn=model.intermediate_size,
        vocabulary=model.vocab_size,
        tied=model.tie_word_embeddings,
        gated=kind not in TWO_MATRICES,
        qkv_bias=kind in QKV_BIAS,
        source="the given configuration",
    )
