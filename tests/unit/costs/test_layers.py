from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.unit.costs.specs import layered, only_fault, stages_of

from crosspipe.costs import expand
from crosspipe.costs.split import LARGEST_ITEM_COUNT
from crosspipe.errors import TooLargeError

SPLIT: dict[str, Any] = {
    "forward_ms": 2,
    "backward_input_ms": 3,
    "backward_weight_ms": 1,
    "activation_mb": 10,
    "retained_mb": 4,
    "static_mb": 7,
    "boundary_mb": 5,
}
COMBINED: dict[str, Any] = {"forward_ms": 2, "backward_ms": 4, "activation_mb": 10, "boundary_mb": 5}
FROZEN: dict[str, Any] = {"forward_ms": 6, "frozen": True, "activation_mb": 3, "static_mb": 1, "boundary_mb": 8}
PASSING: dict[str, Any] = {"forward_ms": 2, "backward_input_ms": 4, "activation_mb": 10}


def values(layers: list[dict[str, Any]], devices: int) -> list[dict[str, Any]]:
    return [stage.model_dump(exclude_defaults=True) for stage in stages_of(expand(layered(layers, devices)))]


def test_times_and_memory_add_up_and_the_message_is_the_last_layers() -> None:
    last = SPLIT | {"boundary_mb": 9, "gradient_mb": 2, "recompute_ms": 1, "backward_extra_mb": 3}
    (stage,) = values([SPLIT | {"repeat": 2}, last], 1)
    assert stage == {
        "forward_ms": 6,
        "backward_input_ms": 9,
        "backward_weight_ms": 3,
        "recompute_ms": 1,
        "activation_mb": 30,
        "retained_mb": 12,
        "backward_extra_mb": 3,
        "static_mb": 21,
        "boundary_mb": 9,
        "gradient_mb": 2,
        "layers": "0-2",
    }


def test_layers_are_cut_by_time() -> None:
    """Six layers of 6 ms and one of 18: 24 | 30 and 30 | 24 are equally good, the earlier cut is taken."""
    heavy = SPLIT | {"forward_ms": 14}
    stages = values([SPLIT | {"repeat": 6}, heavy], 2)
    assert [stage["layers"] for stage in stages] == ["0-3", "4-6"]


def test_sums_are_exact() -> None:
    (stage,) = values([COMBINED | {"forward_ms": 0.1, "repeat": 3}], 1)
    assert stage["forward_ms"] == Decimal("0.3")


def test_numbers_of_many_digits_are_cut_and_summed_exactly() -> None:
    third = Decimal("0.333333333333333333333333333333333333")
    (stage,) = values([COMBINED | {"forward_ms": third, "repeat": 3}], 1)
    assert stage["forward_ms"] == Decimal("0.999999999999999999999999999999999999")


def test_combined_layers_stay_combined_and_keep_all_activations() -> None:
    (stage,) = values([COMBINED | {"repeat": 2}], 1)
    assert stage["backward_ms"] == 8
    assert stage["retained_mb"] == stage["activation_mb"] == 20
    assert "backward_input_ms" not in stage


def test_split_and_combined_layers_in_one_stage_make_it_combined() -> None:
    expansion = expand(layered([SPLIT, COMBINED], 1))
    (stage,) = stages_of(expansion)
    assert (stage.backward_ms, stage.backward_input_ms, stage.backward_weight_ms) == (8, None, None)
    assert any("combined backward" in assumption.value for assumption in expansion.assumptions)


def test_split_and_combined_layers_in_two_stages_stay_apart() -> None:
    first, second = values([SPLIT, COMBINED], 2)
    assert (first["backward_input_ms"], first["backward_weight_ms"]) == (3, 1)
    assert second["backward_ms"] == 4


def test_layers_without_weight_part_only_pass_the_gradient() -> None:
    """Their activations are given back at the end of B: only the trainable layer retains any."""
    (stage,) = values([PASSING, SPLIT], 1)
    assert (stage["backward_input_ms"], stage["backward_weight_ms"]) == (7, 1)
    assert (stage["activation_mb"], stage["retained_mb"]) == (20, 4)


def test_a_stage_without_any_weight_part_has_b_alone() -> None:
    (stage,) = values([PASSING | {"repeat": 2}], 1)
    assert stage["backward_input_ms"] == 8
    assert "backward_weight_ms" not in stage


def test_retained_memory_defaults_to_all_of_it() -> None:
    (stage,) = values([{key: value for key, value in SPLIT.items() if key != "retained_mb"}], 1)
    assert stage["retained_mb"] == 10


def test_a_stage_of_frozen_layers_is_frozen() -> None:
    first, second = values([FROZEN, SPLIT], 2)
    assert first["frozen"] is True
    assert "backward_input_ms" not in first
    assert "frozen" not in second


def test_frozen_layers_before_trainable_ones_share_a_stage() -> None:
    """The frozen layer adds time and memory to F, none to B and W, and retains nothing."""
    expansion = expand(layered([FROZEN, SPLIT], 1))
    (stage,) = stages_of(expansion)
    assert stage.frozen is False
    assert (stage.forward_ms, stage.backward_input_ms, stage.backward_weight_ms) == (8, 3, 1)
    assert (stage.activation_mb, stage.retained_mb, stage.static_mb) == (13, 4, 8)
    assert any("frozen activations" in assumption.value for assumption in expansion.assumptions)


def test_a_frozen_layer_after_a_trainable_one_is_refused() -> None:
    assert only_fault(layered([FROZEN, SPLIT, FROZEN])).pointer == "/model/layers/2/frozen"


@pytest.mark.parametrize("repeat", [LARGEST_ITEM_COUNT + 1, 10**6])
def test_too_many_layers_are_refused_at_once(repeat: int) -> None:
    with pytest.raises(TooLargeError) as caught:
        expand(layered([COMBINED | {"repeat": repeat}]))
    (fault,) = caught.value.faults
    assert (fault.pointer, fault.value, fault.nearest) == ("/model/layers", str(repeat), str(LARGEST_ITEM_COUNT))


def test_sums_beyond_the_range_of_a_field_are_refused() -> None:
    with pytest.raises(TooLargeError) as caught:
        expand(layered([COMBINED | {"forward_ms": 10**12, "repeat": 4}]))
    assert caught.value.faults[0].pointer == "/model/layers"
    assert "forward_ms" in caught.value.faults[0].rule


@pytest.mark.parametrize(
    ("layers", "texts"),
    [
        ([COMBINED | {"repeat": 4}], ["0-1", "2-3"]),
        ([COMBINED, COMBINED], ["0", "1"]),
        ([COMBINED | {"name": "embedding"}, COMBINED | {"repeat": 3}], ["embedding, 1", "2-3"]),
        ([COMBINED | {"name": "block", "repeat": 4}], ["block 0-1", "block 2-3"]),
        ([COMBINED | {"name": "a" * 150}, COMBINED | {"name": "b" * 150}, COMBINED | {"forward_ms": 9}], ["0-1", "2"]),
    ],
)
def test_stages_name_their_layers(layers: list[dict[str, Any]], texts: list[str]) -> None:
    assert [stage["layers"] for stage in values(layers, 2)] == texts


def test_a_slower_device_gets_fewer_layers() -> None:
    pools = [{"devices": 1}, {"devices": 1, "time_factor": 2}]
    expansion = expand(layered([COMBINED | {"repeat": 9}], sites={"east": {"pools": pools}}))
    assert [stage.layers for stage in stages_of(expansion)] == ["0-5", "6-8"]


def test_on_a_loop_the_second_round_meets_the_same_devices() -> None:
    pools = [{"devices": 1}, {"devices": 1, "time_factor": 2}]
    spec = layered([COMBINED | {"repeat": 18}], sites={"east": {"pools": pools}}, placement={"stages_per_device": 2})
    assert [stage.layers for stage in stages_of(expand(spec))] == ["0-5", "6-8", "9-14", "15-17"]


def test_on_a_wave_the_turn_stays_on_the_last_device() -> None:
    pools = [{"devices": 1}, {"devices": 1, "time_factor": 2}]
    spec = layered(
        [COMBINED | {"repeat": 18}],
        sites={"east": {"pools": pools}},
        placement={"stages_per_device": 2, "traversal": "wave"},
    )
    assert [stage.layers for stage in stages_of(expand(spec))] == ["0-5", "6-8", "9-11", "12-17"]
