"""Stages of an estimated model that recompute."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crosspipe.costs.catalogue import model_named
from crosspipe.costs.chain import chain_of
from crosspipe.costs.degrees import Degrees
from crosspipe.costs.estimate import EstimatedModel
from crosspipe.costs.memory import layer_held
from crosspipe.costs.peaks import Peak
from crosspipe.costs.recompute import flops_again, stage_held
from crosspipe.costs.work import Shape, layer_flops

ONE = Degrees(tensor=1, pipeline=1, data=1)
GPT, LLAMA = model_named("zero-bubble-1.5b"), model_named("llama-3-8b")
SHAPE = Shape(1, 4096)
WAYS = ("none", "selective", "full")


def source(name: str = "llama-3-8b", *, split: bool = True) -> EstimatedModel:
    return EstimatedModel(model_named(name), SHAPE, Peak(Decimal(989), "here"), split=split)


def test_selective_keeps_20sbh_of_a_gpt_layer() -> None:
    """34sbh less norms (4), activation function (8) and masks (2); stored scores go, too."""
    s, b, h = 1024, 6, 2304
    assert layer_held(GPT, Shape(b, s)).selective == 20 * s * b * h


def test_selective_keeps_8_and_4k_bsd_and_4bsf_of_a_gated_layer() -> None:
    s, d, f = 4096, 4096, 14336
    assert layer_held(LLAMA, SHAPE).selective == 9 * s * d + 4 * s * f


def test_full_keeps_the_input() -> None:
    assert layer_held(LLAMA, SHAPE).full == 2 * 4096 * 4096


def test_full_takes_a_further_forward_and_selective_a_hundredth_of_the_step() -> None:
    items = chain_of(LLAMA, SHAPE)[:4]
    flops = layer_flops(LLAMA, SHAPE)
    assert flops_again(items, "full", flash=True).forward == 4 * flops.forward
    assert flops_again(items, "selective", flash=True).forward == 4 * flops.total // 100
    assert flops_again(items, "selective", flash=False).forward == 4 * flops.total // 100 + 4 * flops.attention
    assert flops_again(items, "none", flash=True).forward == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["llama-3-8b", "zero-bubble-1.5b", "deepseek-v3"])
def test_what_is_held_covers_every_moment_of_the_backward(way: str, name: str) -> None:
    """Layer by layer from the last: what F left of those before, all of this one, what W needs of those behind."""
    items = chain_of(model_named(name), SHAPE)[:5]
    kept = [{"none": item.held.activation}.get(way, getattr(item.held, way, 0)) for item in items]
    held = stage_held(items, way, split=True)  # type: ignore[arg-type]  # one of the three words
    assert held.activation == sum(kept)
    for place, item in enumerate(items):
        behind = sum(later.held.retained for later in items[place + 1 :])
        assert held.activation + held.extra >= sum(kept[:place]) + item.held.activation + behind
    assert held.retained + held.extra >= sum(item.held.retained for item in items)
    assert held.retained <= held.activation


def test_without_split_backward_one_layer_comes_back_at_a_time() -> None:
    items = chain_of(LLAMA, SHAPE)[:5]
    held = stage_held(items, "full", split=False)
    one = layer_held(LLAMA, SHAPE)
    assert held.activation + held.extra == 4 * one.full + one.activation
    assert held.extra < stage_held(items, "full", split=True).extra


def test_a_stage_that_keeps_all_is_as_it_always_was() -> None:
    stage = source().stage(0, 4, ONE)
    assert stage.recompute_ms == stage.backward_extra_mb == 0
    assert stage.retained_mb is not None
    assert stage.retained_mb < stage.activation_mb


def test_the_stages_of_the_three_policies() -> None:
    none, selective, full = (source().stage(0, 4, ONE, way) for way in ("none", "selective", "full"))
    assert none.activation_mb > selective.activation_mb > full.activation_mb
    assert full.backward_extra_mb > selective.backward_extra_mb > 0
    assert full.recompute_ms == full.forward_ms
    assert 0 < selective.recompute_ms < full.recompute_ms / 10
    assert none.static_mb == selective.static_mb == full.static_mb


def test_the_head_has_nothing_to_recompute() -> None:
    model = source()
    assert model.recompute_ways(0, 4) == WAYS
    assert model.recompute_ways(30, 33) == WAYS
    assert model.recompute_ways(32, 33) == ("none",)
    both, layer = model.stage(31, 33, ONE, "full"), model.stage(31, 32, ONE, "full")
    assert both.recompute_ms == layer.recompute_ms


def test_more_for_w_than_f_left_is_taken_at_the_backward() -> None:
    """Experts: W needs the copies of the output's gradient, too."""
    stage = source("deepseek-v3").stage(10, 11, ONE)
    held = layer_held(model_named("deepseek-v3"), SHAPE, 10)
    assert held.retained > held.activation
    assert stage.retained_mb == stage.activation_mb
    assert float(stage.backward_extra_mb) == pytest.approx((held.retained - held.activation) / 1e6, abs=0.11)
