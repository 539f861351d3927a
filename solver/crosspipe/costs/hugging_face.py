"""A Hugging Face `config.json` as an architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.costs.architecture import Architecture
from crosspipe.costs.experts import Experts
from crosspipe.costs.latent import LatentAttention
from crosspipe.errors import Fault, SpecError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.spec.stages import HuggingFaceModel

NOT_ESTIMATED = ("dbrx", "jamba", "mamba", "rwkv", "llama4", "qwen3_next", "gpt_oss", "t5", "bert", "whisper")
"""Parts of a `model_type` that is no decoder of like layers, or whose experts are of another kind."""

WITH_EXPERTS = ("moe", "mixtral", "deepseek_v2", "deepseek_v3")
"""Parts of a `model_type` whose layers have experts."""

TWO_MATRICES = frozenset({"gpt2", "gpt_neox", "gpt_bigcode", "phi", "starcoder2", "nemotron"})
"""The `model_type`s whose MLP has no gate."""

QKV_BIAS = frozenset({"qwen2", "qwen2_moe"})
"""The gated `model_type`s whose query, key and value projections have biases."""

QK_NORM = frozenset({"qwen3", "qwen3_moe"})
"""The `model_type`s whose queries and keys have a norm per head."""

TIED = frozenset({"gpt2", "gemma", "gemma2", "gemma3_text"})
"""The `model_type`s whose embedding and head share their weights, which their configurations do not say."""

ALL_WITH_EXPERTS = 1
"""The only distance of layers with experts that is estimated."""


def architecture_of(model: HuggingFaceModel, pointer: str = "/model") -> Architecture:
    """Read the shape of a decoder from the fields of its configuration.

    Raises
    ------
    SpecError
        If the heads do not divide evenly, a field of its experts or of its latent attention is missing, experts come
        in some layers only in a way that is not estimated, or the model is no such transformer at all.
    """
    kind = (model.model_type or "").lower()
    faults = [
        *_wrong_kind(model, kind, pointer),
        *_wrong_heads(model, pointer),
        *_wrong_latent(model, pointer),
        *_wrong_experts(model, pointer),
    ]
    if faults:
        raise SpecError(faults)
    heads = model.num_attention_heads
    return Architecture(
        name=kind or "the given configuration",
        hidden=model.hidden_size,
        layers=model.num_hidden_layers,
        heads=heads,
        kv_heads=model.num_key_value_heads or heads,
        head_dim=model.head_dim or max(1, model.hidden_size // heads),
        ffn=model.intermediate_size,
        vocabulary=model.vocab_size,
        tied=model.tie_word_embeddings or kind in TIED,
        gated=kind not in TWO_MATRICES,
        qkv_bias=kind in QKV_BIAS,
        source="the given configuration",
        qk_norm=kind in QK_NORM,
        positions=(model.n_positions or 0) if kind == "gpt2" else 0,
        latent=_latent(model),
        experts=_experts(model),
        prediction_layers=model.num_nextn_predict_layers or 0,
    )


def _routed(model: HuggingFaceModel) -> tuple[str, int]:
    """Name the field that counts the routed experts, and what it says; 0 for a dense model, which may count one."""
    for name in ("n_routed_experts", "num_local_experts", "num_experts"):
        count: int | None = getattr(model, name)
        if count is not None and count > 1:
            return name, count
    return "num_local_experts", 0


def _experts(model: HuggingFaceModel) -> Experts | None:
    name, routed = _routed(model)
    if not routed:
        return None
    width = model.moe_intermediate_size or model.intermediate_size
    shared = model.shared_expert_intermediate_size or (model.n_shared_experts or 0) * width
    return Experts(
        routed=routed,
        chosen=model.num_experts_per_tok or 1,
        ffn=width,
        shared_ffn=shared,
        shared_gate=bool(model.shared_expert_intermediate_size),
        first_dense=model.first_k_dense_replace or 0 if name == "n_routed_experts" else 0,
    )


def _latent(model: HuggingFaceModel) -> LatentAttention | None:
    if model.kv_lora_rank is None:
        return None
    return LatentAttention(
        query_rank=model.q_lora_rank or None,
        kv_rank=model.kv_lora_rank,
        nope=model.qk_nope_head_dim or 0,
        rope=model.qk_rope_head_dim or 0,
        value=model.v_head_dim or 0,
    )


def _wrong_kind(model: HuggingFaceModel, kind: str, pointer: str) -> Iterator[Fault]:
    if any(part in kind for part in NOT_ESTIMATED):
        rule = "decoders of like layers, dense or with experts, are estimated; give measured `layers` or `stages`"
        yield Fault(f"{pointer}/model_type", rule, kind)
    elif any(part in kind for part in WITH_EXPERTS) and not _routed(model)[1]:
        field = "n_routed_experts" if "deepseek" in kind else "num_experts" if "qwen" in kind else "num_local_experts"
        yield Fault(f"{pointer}/{field}", f"must be given: a {kind} has experts", "none")


def _wrong_heads(model: HuggingFaceModel, pointer: str) -> Iterator[Fault]:
    if model.kv_lora_rank is not None:
        return
    heads = model.num_attention_heads
    kv_heads = model.num_key_value_heads or heads
    if heads % kv_heads:
        rule = f"num_key_value_heads divides num_attention_heads = {heads}"
        nearest = min((k for k in range(1, heads + 1) if heads % k == 0), key=lambda k: abs(k - kv_heads))
        yield Fault(f"{pointer}/num_key_value_heads", rule, str(kv_heads), str(nearest))
    if model.head_dim is None and model.hidden_size % heads:
        rule = f"num_attention_heads = {heads} divides hidden_size, unless `head_dim` is given"
        nearest = max(1, round(model.hidden_size / heads)) * heads
        yield Fault(f"{pointer}/hidden_size", rule, str(model.hidden_size), str(nearest))


def _wrong_latent(model: HuggingFaceModel, pointer: str) -> Iterator[Fault]:
    if model.kv_lora_rank is None:
        return
    for name in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"):
        if getattr(model, name) is None:
            yield Fault(f"{pointer}/{name}", "must be given beside `kv_lora_rank` (latent attention)", "none")


def _wrong_experts(model: HuggingFaceModel, pointer: str) -> Iterator[Fault]:
    if not _routed(model)[1]:
        return
    for field in ("moe_layer_freq", "decoder_sparse_step"):
        step = getattr(model, field)
        if step != ALL_WITH_EXPERTS:
            rule = "experts in every layer behind the first dense ones are estimated; give measured `layers`"
            yield Fault(f"{pointer}/{field}", rule, str(step), str(ALL_WITH_EXPERTS))
    if model.mlp_only_layers:
        rule = "experts in every layer behind the first dense ones are estimated; give measured `layers`"
        yield Fault(f"{pointer}/mlp_only_layers", rule, str(model.mlp_only_layers), "[]")
