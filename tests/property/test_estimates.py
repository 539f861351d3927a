"""Estimates of any decoder, cut anywhere."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosspipe.costs.architecture import Architecture
from crosspipe.costs.degrees import Degrees
from crosspipe.costs.estimate import EstimatedModel
from crosspipe.costs.experts import Experts
from crosspipe.costs.latent import LatentAttention
from crosspipe.costs.peaks import Peak
from crosspipe.costs.work import Shape

EXPERTS = st.none() | st.builds(
    Experts,
    routed=st.integers(4, 16),
    chosen=st.integers(1, 4),
    ffn=st.integers(64, 2048),
    shared_ffn=st.sampled_from([0, 256]),
    first_dense=st.integers(0, 2),
)
LATENT = st.none() | st.builds(
    LatentAttention,
    query_rank=st.none() | st.integers(16, 512),
    kv_rank=st.integers(16, 512),
    nope=st.integers(8, 128),
    rope=st.integers(8, 64),
    value=st.integers(8, 128),
)
MODELS = st.builds(
    Architecture,
    name=st.just("any"),
    hidden=st.integers(64, 4096),
    layers=st.integers(1, 6),
    heads=st.sampled_from([4, 8, 32]),
    kv_heads=st.sampled_from([1, 2, 4]),
    head_dim=st.sampled_from([16, 64, 128]),
    ffn=st.integers(64, 8192),
    vocabulary=st.integers(100, 100_000),
    tied=st.booleans(),
    flash=st.booleans(),
    latent=LATENT,
    experts=EXPERTS,
    prediction_layers=st.integers(0, 1),
)
SHAPES = st.builds(
    Shape, microbatch=st.integers(1, 4), sequence=st.sampled_from([512, 4096]), value_bytes=st.sampled_from([2, 4])
)
DEGREES = st.builds(
    Degrees,
    tensor=st.sampled_from([1, 2, 4]),
    pipeline=st.just(2),
    data=st.sampled_from([1, 4]),
    context=st.sampled_from([1, 2]),
    expert=st.none() | st.sampled_from([1, 2]),
)
ROUNDING_MB = 1.0
"""Sums of sizes rounded to 0.1 MB."""


def source(model: Architecture, shape: Shape, *, split: bool = True) -> EstimatedModel:
    return EstimatedModel(model, shape, Peak(Decimal(1), "here"), split=split)


@settings(max_examples=60, deadline=None)
@given(model=MODELS, shape=SHAPES, degrees=DEGREES, data=st.data())
def test_two_parts_make_the_whole(model: Architecture, shape: Shape, degrees: Degrees, data: st.DataObject) -> None:
    """Times and activations add up; parameters do but for what both ends share."""
    found = source(model, shape)
    place = data.draw(st.integers(1, found.item_count - 1))
    whole = found.stage(0, found.item_count, degrees)
    parts = found.stage(0, place, degrees), found.stage(place, found.item_count, degrees)
    for name in ("forward_ms", "backward_input_ms", "backward_weight_ms"):
        assert float(getattr(whole, name)) == pytest.approx(sum(float(getattr(p, name)) for p in parts), abs=0.01)
    assert float(whole.activation_mb) == pytest.approx(sum(float(p.activation_mb) for p in parts), abs=ROUNDING_MB)
    apart = sum(float(part.static_mb) for part in parts)
    assert float(whole.static_mb) <= apart + ROUNDING_MB
    if not model.tied and not model.prediction_layers:
        assert float(whole.static_mb) == pytest.approx(apart, abs=ROUNDING_MB)


@settings(max_examples=60, deadline=None)
@given(model=MODELS, shape=SHAPES, degrees=DEGREES, split=st.booleans())
def test_recomputing_more_keeps_less_and_takes_longer(
    model: Architecture, shape: Shape, degrees: Degrees, split: bool
) -> None:
    found = source(model, shape, split=split)
    none, selective, full = (found.stage(0, model.layers, degrees, way) for way in found.recompute_ways(0, 1))
    assert none.activation_mb >= selective.activation_mb >= full.activation_mb
    assert none.recompute_ms == 0 < selective.recompute_ms <= full.recompute_ms
    for stage in (none, selective, full):
        assert 0 <= (stage.retained_mb or 0) <= stage.activation_mb


@settings(max_examples=30, deadline=None)
@given(model=MODELS, shape=SHAPES)
def test_experts_hold_more_than_a_token_runs(model: Architecture, shape: Shape) -> None:
    dense = replace(model, experts=None)
    for layer in range(model.layers):
        assert model.active_parameters(layer) <= model.layer_parameters_of(layer)
        if not model.has_experts(layer):
            assert model.layer_parameters_of(layer) == dense.layer_parameters_of(layer)
    assert source(model, shape).items[0].embedding
