"""Layers with experts and latent attention, and multi-token prediction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crosspipe.costs.catalogue import model_named
from crosspipe.costs.chain import chain_of, describe, stage_parameters
from crosspipe.costs.memory import layer_held
from crosspipe.costs.work import Shape, head_flops, layer_flops

SHAPE = Shape(1, 4096)
DEEPSEEK = model_named("deepseek-v3")


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("llama-3-8b", 8.0),
        ("llama-3-70b", 70.6),
        ("llama-3.1-405b", 405.9),
        ("qwen2.5-72b", 72.7),
        ("mixtral-8x7b", 46.7),
        ("mixtral-8x22b", 140.6),
        ("qwen3-235b-a22b", 235.1),
        ("deepseek-v3", 671.0),
    ],
)
def test_published_totals_follow_from_the_shapes(name: str, billions: float) -> None:
    assert round(model_named(name).parameters / 1e9, 1) == billions


@pytest.mark.parametrize(
    ("name", "held", "active"),
    [
        ("mixtral-8x7b", 1451.3, 394.3),
        ("mixtral-8x22b", 2504, 692),
        ("qwen3-235b-a22b", 2487.7, 222.3),
        ("deepseek-v3", 11507, 583.5),
    ],
)
def test_a_layer_with_experts_runs_few_of_the_parameters_it_holds(name: str, held: float, active: float) -> None:
    """Published figures leave the router out: at most 0.4 % of what a token runs."""
    model = model_named(name)
    last = model.layers - 1
    assert model.layer_parameters_of(last) / 1e6 == pytest.approx(held, rel=1e-3)
    assert model.active_parameters(last) / 1e6 == pytest.approx(active, rel=4e-3)


@pytest.mark.parametrize(
    ("name", "sequence", "gflop_per_token"),
    [("mixtral-8x7b", 8192, 0.856), ("mixtral-8x22b", 8192, 1.485), ("deepseek-v3", 4096, 1.335)],
)
def test_forward_work_per_token_of_a_layer_with_experts(name: str, sequence: int, gflop_per_token: float) -> None:
    model = model_named(name)
    flops = layer_flops(model, Shape(1, sequence), model.layers - 1)
    assert flops.forward / sequence / 1e9 == pytest.approx(gflop_per_token, rel=4e-3)


def test_dense_and_expert_layers_of_deepseek_are_alike_in_time_and_not_in_memory() -> None:
    items = chain_of(DEEPSEEK, SHAPE)
    dense, experts = items[2], items[3]
    assert experts.flops.total == pytest.approx(dense.flops.total, rel=5e-3)
    assert experts.parameters > 19 * dense.parameters
    assert dense.routed == 0
    assert experts.routed == 256 * 3 * 7168 * 2048


def test_activations_of_experts_use_their_chosen_width() -> None:
    """Mixtral 8x7B, k = 1/4 + two copies of the token: 13bsd + 4bsd + 8bs x 2f at F; 6bs x 2f + 8bsd more until W."""
    s, d, f = 4096, 4096, 14336
    held = layer_held(model_named("mixtral-8x7b"), SHAPE)
    assert held.activation == 13 * s * d + 4 * s * d + 16 * s * f
    assert held.retained == 13 * s * d + 8 * s * d + 12 * s * f
    assert held.selective == held.activation - 4 * s * d - 8 * s * f


def test_latent_attention_keeps_narrow_vectors_queries_keys_and_values() -> None:
    """The dense layers of DeepSeek-V3, values per token."""
    narrow = 2 * 1536 + 2 * 512 + 64
    heads = 128 * (192 + 192 + 128 + 128)
    held = layer_held(DEEPSEEK, SHAPE, 0)
    assert held.activation == 2 * 4096 * (4 * 7168 + narrow + heads + 4 * 18432)
    assert held.selective == held.activation - 2 * 4096 * (2 * 7168 + 1536 + 512 + 2 * 18432)


def test_multi_token_prediction_is_an_item_before_the_head() -> None:
    *_, last, further, head = chain_of(DEEPSEEK, SHAPE)
    assert (last.layer, further.kind, head.kind) == (60, "multi-token prediction", "head")
    projection = 2 * 2 * 7168**2 * SHAPE.tokens
    through = head_flops(DEEPSEEK, SHAPE).forward
    assert further.flops.forward == last.flops.forward + projection + through
    assert describe([last, further, head]) == "60, multi-token prediction, head"
    assert describe([further]) == "multi-token prediction"


def test_a_stage_holds_embedding_and_head_once() -> None:
    items = chain_of(DEEPSEEK, SHAPE)
    matrix = DEEPSEEK.head_matrix_parameters
    apart = stage_parameters(DEEPSEEK, items[-2:-1]) + stage_parameters(DEEPSEEK, items[-1:])
    assert stage_parameters(DEEPSEEK, items[-2:]) == apart - matrix
    published = stage_parameters(DEEPSEEK, items) - DEEPSEEK.prediction_parameters
    assert published == DEEPSEEK.parameters


def test_tied_ends_in_one_stage_are_held_once_and_apart_twice() -> None:
    model = model_named("llama-3.2-1b")
    items = chain_of(model, SHAPE)
    assert stage_parameters(model, items) == model.parameters
    apart = stage_parameters(model, items[:8]) + stage_parameters(model, items[8:])
    assert apart == model.parameters + model.embedding_parameters


def test_a_dense_model_of_the_same_shape_has_no_experts() -> None:
    dense = replace(DEEPSEEK, experts=None, prediction_layers=0)
    assert {item.kind for item in chain_of(dense, SHAPE)} == {"embedding and layer", "layer", "head"}
