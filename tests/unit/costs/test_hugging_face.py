from __future__ import annotations

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


@pytest.mark.parametrize("kind", ["mixtral", "qwen3_moe", "deepseek_v3", "mamba"])
def test_a_model_that_is_not_dense_is_refused(kind: str) -> None:
    fault = refused(model_type=kind)
    assert (fault.pointer, fault.value) == ("/model/model_type", kind)
    assert "dense" in fault.rule


def test_one_expert_is_dense() -> None:
    assert read(num_local_experts=1) == read()


def test_key_value_heads_divide_the_heads() -> None:
    fault = refused(num_key_value_heads=7)
    assert (fault.pointer, fault.value, fault.nearest) == ("/model/num_key_value_heads", "7", "8")


def test_heads_divide_the_hidden_size() -> None:
    fault = refused(hidden_size=4100)
    assert (fault.pointer, fault.value, fault.nearest) == ("/model/hidden_size", "4100", "4096")
