from __future__ import annotations

from decimal import Decimal

import pytest

from crosspipe.costs.catalogue import accelerator_named, accelerator_names, model_named, model_names
from crosspipe.errors import SpecError


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("llama-3-8b", 8_030_261_248),
        ("llama-3-70b", 70_553_706_496),
        ("llama-3.1-405b", 405_853_388_800),
        ("llama-3.2-1b", 1_235_814_400),
        ("llama-3.2-3b", 3_212_749_824),
        ("qwen2.5-3b", 3_085_938_688),
        ("qwen2.5-7b", 7_615_616_512),
        ("qwen2.5-14b", 14_770_033_664),
        ("qwen2.5-32b", 32_763_876_352),
        ("qwen2.5-72b", 72_706_203_648),
    ],
)
def test_shapes_add_up_to_the_published_parameter_counts(name: str, parameters: int) -> None:
    assert model_named(name).parameters == parameters


@pytest.mark.parametrize("billions", [1.5, 6.2, 14.6, 28.3])
def test_zero_bubble_models_are_as_large_as_their_names(billions: float) -> None:
    assert model_named(f"zero-bubble-{billions}b").parameters / 1e9 == pytest.approx(billions, rel=0.015)


def test_models_have_aliases_and_any_letter_case() -> None:
    assert model_named("llama-3-405b") == model_named("llama-3.1-405b") == model_named("Llama-3.1-405B")


def test_names_leave_aliases_out() -> None:
    assert "llama-3.1-405b" in model_names()
    assert "llama-3-405b" not in model_names()
    assert "h100-80gb" in accelerator_names()
    assert "h100" not in accelerator_names()


@pytest.mark.parametrize(
    ("name", "tflops", "memory_gb"),
    [
        ("a100-40gb", 312, 40),
        ("a100-80gb", 312, 80),
        ("h100-80gb", 989, 80),
        ("h200-141gb", 989, 141),
        ("b200", 2250, 180),
        ("mi300x", 1307, 192),
    ],
)
def test_accelerators_state_the_dense_peak(name: str, tflops: int, memory_gb: int) -> None:
    card = accelerator_named(name, "/sites/east/gpu")
    assert (card.dense_bf16_tflops, card.memory_gb) == (tflops, memory_gb)


def test_a_fractional_peak_is_read_exactly() -> None:
    assert accelerator_named("l20", "").dense_bf16_tflops == Decimal("119.5")


def test_every_accelerator_has_a_source_and_a_positive_link_or_none() -> None:
    for name in accelerator_names():
        card = accelerator_named(name, "")
        assert card.source
        assert card.node_link_gbytes_per_s is None or card.node_link_gbytes_per_s > 0


def test_an_unknown_model_is_refused_with_the_closest_names() -> None:
    with pytest.raises(SpecError) as caught:
        model_named("llama-3-70")
    (fault,) = caught.value.faults
    assert fault.pointer == "/model"
    assert fault.value == "llama-3-70"
    assert fault.nearest is not None
    assert fault.nearest.split(", ")[0] == "llama-3-70b"
    assert "qwen2.5-72b" in fault.rule


def test_an_unknown_card_is_refused_with_the_closest_names() -> None:
    with pytest.raises(SpecError) as caught:
        accelerator_named("h100-80g", "/sites/east/gpu")
    (fault,) = caught.value.faults
    assert fault.pointer == "/sites/east/gpu"
    assert fault.nearest is not None
    assert fault.nearest.split(", ")[0] == "h100-80gb"


def test_a_name_like_no_other_is_refused_without_a_guess() -> None:
    with pytest.raises(SpecError) as caught:
        accelerator_named("abacus", "/sites/east/gpu")
    assert caught.value.faults[0].nearest is None


@pytest.mark.parametrize(
    ("name", "nearest"), [("A100", "a100-40gb, a100-80gb"), ("h2", "h20"), ("h100-80g", "h100-80gb")]
)
def test_a_name_cut_short_is_completed_first(name: str, nearest: str) -> None:
    with pytest.raises(SpecError) as caught:
        accelerator_named(name, "/sites/east/gpu")
    assert (caught.value.faults[0].nearest or "").startswith(nearest)
