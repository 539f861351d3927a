"""Precision, utilisation, context and expert degrees of an estimated model."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crosspipe.costs.estimate import EstimatedModel
from crosspipe.costs.expand import expand, prepare
from crosspipe.errors import Fault, SpecError
from crosspipe.spec.load import parse_spec
from crosspipe.spec.stages import Stage, StagesModel


def expanded(
    model: str = "llama-3-8b", gpu: str = "h100-80gb", gpus: int = 32, tensor: int = 8, **sections: dict[str, Any]
) -> list[Stage]:
    training = {"microbatches": 8, "microbatch": 1, "sequence_length": 4096} | sections.get("training", {})
    parallel = {"tensor": tensor, "pipeline": 4, "data": 1} | sections.get("parallel", {})
    sites = {"here": {"gpus": gpus, "gpu": gpu} | sections.get("site", {})}
    placement = sections.get("placement", {})
    spec = {"model": model, "training": training, "parallel": parallel, "sites": sites, "placement": placement}
    found = expand(parse_spec(spec))
    assert isinstance(found.spec.model, StagesModel)
    assert isinstance(found.spec.model.stages, list)
    return found.spec.model.stages


def refused(**sections: Any) -> Fault:
    with pytest.raises(SpecError) as caught:
        expanded(**sections)
    return caught.value.faults[0]


def test_fp16_costs_what_bf16_does() -> None:
    assert expanded(training={"precision": "fp16"}) == expanded()


def test_fp8_runs_the_matrices_of_layers_twice_as_fast_and_nothing_else() -> None:
    """W is matrices alone: half the time at 1979 in place of 989 TFLOP/s. F has attention, the last stage a head."""
    cut = {"layers_per_stage": [8, 8, 8, 9]}
    half, fp8 = expanded(placement=cut), expanded(placement=cut, training={"precision": "fp8"})
    weight = [float((b.backward_weight_ms or 0) / (a.backward_weight_ms or 1)) for a, b in zip(half, fp8, strict=True)]
    assert weight[1] == pytest.approx(989 / 1979, rel=1e-3)
    assert 0.6 < weight[3] < 0.8
    assert 0.51 < float(fp8[1].forward_ms / half[1].forward_ms) < 0.6
    for a, b in zip(half, fp8, strict=True):
        assert (a.activation_mb, a.static_mb, a.boundary_mb) == (b.activation_mb, b.static_mb, b.boundary_mb)


def test_fp32_doubles_values_and_needs_no_master() -> None:
    """16 bytes per parameter in place of 18, activations and messages twice as large, the peak without tensor cores."""
    half, full = expanded(), expanded(training={"precision": "fp32"})
    assert float(full[1].boundary_mb / half[1].boundary_mb) == pytest.approx(2, rel=2e-3)
    assert float(full[1].activation_mb / half[1].activation_mb) == pytest.approx(2, rel=1e-3)
    assert float(full[1].static_mb / half[1].static_mb) == pytest.approx(16 / 18, rel=1e-3)
    assert float(full[1].forward_ms / half[1].forward_ms) == pytest.approx(989 / 67, rel=1e-3)


def test_a_peak_that_is_not_known_is_asked_for() -> None:
    fault = refused(gpu="a100-80gb", training={"precision": "fp8"})
    assert (fault.pointer, fault.value) == ("/sites/here/tflops", "none")
    assert "a100-80gb" in fault.rule
    assert expanded(gpu="a100-80gb", training={"precision": "fp8"}, site={"tflops": 600})


def test_utilisation_is_a_share_each_for_f_b_and_w() -> None:
    usual = expanded()[1]
    other = expanded(training={"utilisation": {"forward": 0.5, "backward_weight": 0.8}})[1]
    assert float(other.forward_ms / usual.forward_ms) == pytest.approx(0.8, rel=1e-3)
    assert other.backward_input_ms == usual.backward_input_ms
    assert float((other.backward_weight_ms or 0) / (usual.backward_weight_ms or 1)) == pytest.approx(0.5, rel=1e-3)


def test_context_shares_out_tokens_and_optimizer_state_not_weights() -> None:
    """(6 + 12/2) / tensor in place of 18 / tensor bytes per parameter."""
    usual, cut = expanded()[1], expanded(gpus=64, parallel={"context": 2})[1]
    assert float(usual.forward_ms / cut.forward_ms) == pytest.approx(2, rel=1e-3)
    assert float(usual.activation_mb / cut.activation_mb) == pytest.approx(2, rel=1e-3)
    assert float(cut.static_mb / usual.static_mb) == pytest.approx(12 / 18, rel=1e-3)
    assert cut.boundary_mb == usual.boundary_mb


def test_devices_are_counted_in_tensor_times_context() -> None:
    spec = {
        "model": "llama-3-8b",
        "training": {"microbatches": 8, "microbatch": 1, "sequence_length": 4096},
        "parallel": {"tensor": 4, "context": 2, "data": 2},
        "sites": {"here": {"gpus": 64, "gpu": "h100-80gb"}},
    }
    found = expand(parse_spec(spec)).spec
    assert found.parallel.pipeline == found.sites["here"].devices == 4
    assert found.sites["here"].hop_bandwidth_gbps == 400 * 8


def test_a_map_counts_devices_in_tensor_times_context() -> None:
    spec = {
        "model": "llama-3-8b",
        "training": {"microbatches": 8, "microbatch": 1, "sequence_length": 4096},
        "parallel": {"tensor": 4, "context": 2, "data": 1},
        "sites": {"here": {"gpus": 16, "gpu": "h100-80gb"}},
        "placement": {"map": ["here/1", "here/2"]},
    }
    with pytest.raises(SpecError) as caught:
        parse_spec(spec)
    assert caught.value.faults[0].pointer == "/placement/map/1"


def test_context_divides_the_gpus() -> None:
    assert (
        refused(gpus=32, parallel={"tensor": "auto", "context": 64, "pipeline": "auto"}).pointer == "/sites/here/gpus"
    )


def test_routed_experts_are_shared_out_over_the_expert_degree() -> None:
    """DeepSeek-V3: 6 / 32 + 12 / 32 bytes per routed parameter over 4 copies of 8, in place of 6 / 8 + 12 / 32."""
    degrees = {"data": 4, "pipeline": 4}
    own = expanded("deepseek-v3", gpus=128, parallel=degrees)[1]
    shared = expanded("deepseek-v3", gpus=128, parallel=degrees | {"expert": 32})[1]
    assert own.layers == shared.layers
    routed = 256 * 3 * 7168 * 2048
    first, last = (int(word) for word in (own.layers or "").split("-"))
    saved = (last - first + 1) * routed * (Decimal(6) / 8 - Decimal(6) / 32) / 10**6
    assert float(own.static_mb - shared.static_mb) == pytest.approx(float(saved), abs=0.2)


@pytest.mark.parametrize(
    ("model", "expert", "nearest"), [("llama-3-8b", 2, None), ("deepseek-v3", 48, "32"), ("deepseek-v3", 64, "32")]
)
def test_an_expert_degree_that_fits_nothing_is_refused(model: str, expert: int, nearest: str | None) -> None:
    fault = refused(model=model, gpus=128, parallel={"data": 4, "expert": expert})
    assert (fault.pointer, fault.value, fault.nearest) == ("/parallel/expert", str(expert), nearest)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"precision": "fp8"},
        {"utilisation": {"backward_weight": 0.8, "forward": 0.3}},
        {"recompute": "full"},
        {"recompute": "selective", "precision": "fp8"},
    ],
)
def test_the_even_cut_goes_by_the_times_that_are_told(changes: dict[str, Any]) -> None:
    """The works of the items are in the ratios of their times."""
    training = {"microbatches": 8, "microbatch": 1, "sequence_length": 4096} | changes
    sites = {"here": {"gpus": 4, "gpu": "h100-80gb"}}
    parallel = {"tensor": 1, "data": 1}
    ready = prepare(parse_spec({"model": "llama-3-8b", "training": training, "parallel": parallel, "sites": sites}))
    source = ready.source
    assert isinstance(source, EstimatedModel)
    works = source.works()
    way = changes.get("recompute", "none")
    pair = source.stage(1, 2, ready.degrees, way), source.stage(32, 33, ready.degrees)
    times = [
        float(s.forward_ms + (s.backward_input_ms or 0) + (s.backward_weight_ms or 0) + s.recompute_ms) for s in pair
    ]
    assert works[32] / works[1] == pytest.approx(times[1] / times[0], rel=1e-3)
