from __future__ import annotations

from fractions import Fraction

import pytest

from crosspipe.costs.catalogue import model_named, model_names
from crosspipe.costs.memory import boundary_bytes, head_held, layer_held, static_bytes
from crosspipe.costs.work import Shape, head_flops, layer_flops


def test_gpt_layer_work_is_the_zero_bubble_formula() -> None:
    """F = sbh(24h + 4s), B = sbh(24h + 8s), W = 24sbh^2 with s = 1024, b = 6, h = 2304."""
    s, b, h = 1024, 6, 2304
    flops = layer_flops(model_named("zero-bubble-1.5b"), Shape(b, s))
    assert flops.forward == s * b * h * (24 * h + 4 * s)
    assert flops.backward_input == s * b * h * (24 * h + 8 * s)
    assert flops.backward_weight == 24 * s * b * h * h
    assert flops.backward_input + flops.backward_weight == 2 * flops.forward


def test_llama_layer_work_is_the_crosspipe_formula() -> None:
    """F = 2bs^2d + 4bsd^2(1+k) + 6bsdf with b = 1, s = 8192, d = 8192, k = 1/8, f = 28672."""
    s, d, f = 8192, 8192, 28672
    flops = layer_flops(model_named("llama-3-70b"), Shape(1, s))
    matrices = 4 * s * d * d * 9 // 8 + 6 * s * d * f
    assert flops.forward == 2 * s * s * d + matrices
    assert flops.backward_input == 4 * s * s * d + matrices
    assert flops.backward_weight == matrices


@pytest.mark.parametrize(
    ("name", "gflop_per_token"),
    [
        ("llama-3-8b", 0.503),
        ("llama-3-70b", 1.845),
        ("llama-3.1-405b", 6.644),
        ("qwen2.5-72b", 1.890),
        ("qwen2.5-32b", 1.059),
    ],
)
def test_forward_work_per_token_and_layer_at_8192_tokens(name: str, gflop_per_token: float) -> None:
    """2 x parameters that multiply + 2sd of causal attention."""
    flops = layer_flops(model_named(name), Shape(1, 8192))
    assert flops.forward / 8192 / 1e9 == pytest.approx(gflop_per_token, abs=6e-4)


@pytest.mark.parametrize(
    ("name", "ratio"),
    [("llama-3-8b", 2.09), ("llama-3-70b", 1.14), ("llama-3.1-405b", 0.63), ("qwen2.5-72b", 1.32)],
)
def test_the_head_weighs_as_much_as_some_layers(name: str, ratio: float) -> None:
    model, shape = model_named(name), Shape(1, 8192)
    assert head_flops(model, shape).forward / layer_flops(model, shape).forward == pytest.approx(ratio, abs=0.006)


@pytest.mark.parametrize("name", model_names())
def test_weight_work_is_below_forward_and_forward_below_input_work(name: str) -> None:
    flops = layer_flops(model_named(name), Shape(1, 4096))
    assert flops.backward_weight < flops.forward < flops.backward_input


def test_gpt_activations_are_34sbh_with_stored_scores_and_32sbh_for_weights() -> None:
    """The Zero Bubble 1.5B profile of three layers: sb(34h + 5as) = 1236.3 MB, 32sbh = 453.0 MB each."""
    s, b, h, a = 1024, 6, 2304, 24
    held = layer_held(model_named("zero-bubble-1.5b"), Shape(b, s))
    assert held.activation == s * b * (34 * h + 5 * a * s)
    assert held.retained == 32 * s * b * h
    assert round(3 * held.activation / 1e6) == 3709
    assert round(3 * held.retained / 1e6) == 1359


def test_llama_activations_are_the_crosspipe_formula() -> None:
    """12bsd + 4k bsd + 8bsf at F, 12bsd + 4k bsd + 6bsf until W, with k = 1/8: 12.5 bsd."""
    s, d, f = 4096, 8192, 28672
    held = layer_held(model_named("llama-3-70b"), Shape(1, s))
    assert held.activation == 25 * s * d // 2 + 8 * s * f
    assert held.retained == 25 * s * d // 2 + 6 * s * f


def test_head_activations_are_norm_and_projection_inputs_and_logits() -> None:
    """4bs(d + V), of which W needs half: s = 4096, d = 4096, V = 128256."""
    held = head_held(model_named("llama-3-8b"), Shape(1, 4096))
    assert held.activation == 4 * 4096 * (4096 + 128256)
    assert held.retained == 2 * 4096 * (4096 + 128256)


@pytest.mark.parametrize(("data", "bytes_per_parameter"), [(1, 18), (2, 12), (16, Fraction(27, 4))])
def test_static_memory_per_parameter(data: int, bytes_per_parameter: int | Fraction) -> None:
    """6 + 12 / data bytes."""
    assert static_bytes(1000, data) == 1000 * bytes_per_parameter


def test_a_message_of_4096_tokens_of_width_8192_is_64_mib() -> None:
    assert boundary_bytes(model_named("llama-3-70b"), Shape(1, 4096)) == 64 * 2**20
