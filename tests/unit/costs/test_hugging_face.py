from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crosspipe.costs.catalogue import model_named
from crosspipe.costs.hugging_face import architecture_of
from crosspipe.errors import Fault, SpecError
from crosspipe.spec.stages import HuggingFaceModel

if TYPE_CHECKING:
    from crosspipe.costs.architecture import Architecture

LLAMA_3_8B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "rope_theta": 500000.0,
}


def read(**changes: Any) -> Architecture:
    return architecture_of(HuggingFaceModel.model_validate(LLAMA_3_8B | changes))


def refused(**changes: Any) -> Fault:
    with pytest.raises(SpecError) as caught:
        read(**changes)
    (fault,) = caught.value.faults
    return fault


def test_a_config_is_the_model_of_the_catalogue() -> None:
    assert read().parameters == model_named("llama-3-8b").parameters


def test_qwen2_has_biases() -> None:
    config = {"model_type": "qwen2", "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64}
    config |= {"intermediate_size": 29568, "vocab_size": 152064}
    assert read(**config).parameters == model_named("qwen2.5-72b").parameters


def test_an_ungated_mlp_has_two_matrices() -> None:
    """gpt_neox-like: 4 x 4096^2 + 2 x 4096 x 16384 parameters that multiply."""
    model = read(model_type="gpt_neox", num_key_value_heads=None, intermediate_size=16384)
    assert model.layer_matmul_parameters == 12 * 4096**2


def test_key_value_heads_default_to_all_heads() -> None:
    assert read(num_key_value_heads=None).kv_heads == 32


def test_a_head_dim_of_its_own_is_taken() -> None:
    model = read(head_dim=256)
    assert (model.query_width, model.kv_width) == (8192, 2048)


def test_tied_weights_count_once() -> None:
    assert read().parameters - read(tie_word_embeddings=True).parameters == 128256 * 4096


@pytest.mark.parametrize("kind", ["mamba", "jamba", "llama4", "t5"])
def test_a_model_that_is_no_decoder_of_like_layers_is_refused(kind: str) -> None:
    fault = refused(model_type=kind)
    assert (fault.pointer, fault.value) == ("/model/model_type", kind)
    assert "decoders of like layers" in fault.rule


@pytest.mark.parametrize(
    ("kind", "field"),
    [("mixtral", "num_local_experts"), ("qwen3_moe", "num_experts"), ("deepseek_v3", "n_routed_experts")],
)
def test_a_family_with_experts_says_how_many(kind: str, field: str) -> None:
    fault = refused(model_type=kind)
    assert (fault.pointer, fault.value) == (f"/model/{field}", "none")


def test_one_expert_is_dense() -> None:
    assert read(num_local_experts=1) == read()


def test_key_value_heads_divide_the_heads() -> None:
    fault = refused(num_key_value_heads=7)
    assert (fault.pointer, fault.value, fault.nearest) == ("/model/num_key_value_heads", "7", "8")


def test_heads_divide_the_hidden_size() -> None:
    fault = refused(hidden_size=4100)
    assert (fault.pointer, fault.value, fault.nearest) == ("/model/hidden_size", "4100", "4096")


MIXTRAL_8X7B = LLAMA_3_8B | {
    "model_type": "mixtral",
    "vocab_size": 32000,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}

QWEN3_235B = {
    "model_type": "qwen3_moe",
    "hidden_size": 4096,
    "num_hidden_layers": 94,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "intermediate_size": 12288,
    "moe_intermediate_size": 1536,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "vocab_size": 151936,
}

DEEPSEEK_V3 = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "num_nextn_predict_layers": 1,
    "vocab_size": 129280,
}


@pytest.mark.parametrize(
    ("config", "name"),
    [(MIXTRAL_8X7B, "mixtral-8x7b"), (QWEN3_235B, "qwen3-235b-a22b"), (DEEPSEEK_V3, "deepseek-v3")],
)
def test_a_config_with_experts_is_the_model_of_the_catalogue(config: dict[str, Any], name: str) -> None:
    found = architecture_of(HuggingFaceModel.model_validate(config))
    known = model_named(name)
    assert replace(found, name="", source="", head_dim=0) == replace(known, name="", source="", head_dim=0)


def test_deepseek_v2_lite_has_15_7_billion_parameters() -> None:
    """No narrow vector for queries, two shared experts, one dense layer first."""
    lite = DEEPSEEK_V3 | {
        "model_type": "deepseek_v2",
        "hidden_size": 2048,
        "num_hidden_layers": 27,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "intermediate_size": 10944,
        "moe_intermediate_size": 1408,
        "n_routed_experts": 64,
        "n_shared_experts": 2,
        "num_experts_per_tok": 6,
        "first_k_dense_replace": 1,
        "q_lora_rank": None,
        "num_nextn_predict_layers": None,
        "vocab_size": 102400,
    }
    model = architecture_of(HuggingFaceModel.model_validate(lite))
    assert model.latent is not None
    assert model.latent.query_rank is None
    assert model.parameters == 15_706_484_224


PUBLISHED = {
    14_315_784_192: {
        "model_type": "qwen2_moe",
        "hidden_size": 2048,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 5632,
        "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632,
        "num_experts": 60,
        "num_experts_per_tok": 4,
        "vocab_size": 151936,
    },
    8_190_735_360: {
        "model_type": "qwen3",
        "hidden_size": 4096,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "intermediate_size": 12288,
        "vocab_size": 151936,
    },
    2_506_172_416: {
        "model_type": "gemma",
        "hidden_size": 2048,
        "num_hidden_layers": 18,
        "num_attention_heads": 8,
        "num_key_value_heads": 1,
        "head_dim": 256,
        "intermediate_size": 16384,
        "vocab_size": 256000,
    },
    20_554_567_680: {
        "model_type": "gpt_neox",
        "hidden_size": 6144,
        "num_hidden_layers": 44,
        "num_attention_heads": 64,
        "intermediate_size": 24576,
        "vocab_size": 50432,
    },
}
"""Qwen1.5-MoE-A2.7B, Qwen3-8B, Gemma 2B and GPT-NeoX-20B by their published parameters."""


@pytest.mark.parametrize("parameters", PUBLISHED)
def test_configs_add_up_to_the_published_parameters(parameters: int) -> None:
    assert architecture_of(HuggingFaceModel.model_validate(PUBLISHED[parameters])).parameters == parameters


def test_gpt2_is_read_by_its_own_names() -> None:
    """GPT-2: 124 439 808 parameters, learned positions and tied head included."""
    config = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024}
    model = architecture_of(HuggingFaceModel.model_validate(config | {"vocab_size": 50257, "n_inner": None}))
    assert model.parameters == 124_439_808


@pytest.mark.parametrize(
    ("changes", "pointer", "nearest"),
    [
        ({"moe_layer_freq": 2}, "/model/moe_layer_freq", "1"),
        ({"decoder_sparse_step": 2}, "/model/decoder_sparse_step", "1"),
        ({"mlp_only_layers": [0]}, "/model/mlp_only_layers", "[]"),
        ({"v_head_dim": None}, "/model/v_head_dim", None),
    ],
)
def test_what_cannot_be_estimated_is_refused(changes: dict[str, Any], pointer: str, nearest: str | None) -> None:
    fault = refused(**(DEEPSEEK_V3 | changes))
    assert (fault.pointer, fault.nearest) == (pointer, nearest)
