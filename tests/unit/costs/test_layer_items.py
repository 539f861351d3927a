"""Groups, weights by parameters, tied weights and recomputation of measured layers."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.costs.specs import layered, only_fault, stages_of

from crosspipe.costs import expand
from crosspipe.costs.assignment import Assignment
from crosspipe.costs.expand import prepare
from crosspipe.costs.layers import MeasuredLayers

if TYPE_CHECKING:
    from crosspipe.spec.model import Recompute

LAYER: dict[str, Any] = {
    "forward_ms": 2,
    "backward_input_ms": 3,
    "backward_weight_ms": 1,
    "activation_mb": 10,
    "retained_mb": 4,
    "static_mb": 7,
    "boundary_mb": 5,
}
BARE = LAYER | {"static_mb": 0}
CHEAP = {"activation_mb": 6, "recompute_ms": 0.5}
ALL = {"activation_mb": 1, "recompute_ms": 2, "backward_extra_mb": 9}


def source(layers: list[dict[str, Any]], **changes: Any) -> MeasuredLayers:
    found = prepare(layered(layers, **changes)).source
    assert isinstance(found, MeasuredLayers)
    return found


def test_a_group_is_one_item() -> None:
    layers = [LAYER | {"group": "a"}, LAYER | {"group": "a"}, LAYER, LAYER | {"group": "b", "repeat": 3}, LAYER]
    found = source(layers)
    assert found.item_count == 4
    assert found.works() == [12, 6, 18, 6]


def test_groups_are_not_cut() -> None:
    """Alone by time the cut would be 3 | 3."""
    layers = [LAYER | {"repeat": 2}, LAYER | {"repeat": 3, "group": "experts"}, LAYER]
    assert [stage.layers for stage in stages_of(expand(layered(layers)))] == ["0-1", "2-5"]


def test_a_given_cut_counts_layers_and_keeps_groups() -> None:
    layers = [LAYER | {"repeat": 2}, LAYER | {"repeat": 3, "group": "experts"}, LAYER]
    kept = expand(layered(layers, placement={"layers_per_stage": [5, 1]}))
    assert [stage.layers for stage in stages_of(kept)] == ["0-4", "5"]
    parted = only_fault(layered(layers, placement={"layers_per_stage": [3, 3]}))
    assert parted.pointer == "/placement/layers_per_stage/0"
    assert "experts" in parted.rule
    short = only_fault(layered(layers, placement={"layers_per_stage": [2, 1]}))
    assert "adds up to 6" in short.rule


def test_more_stages_than_items_are_refused() -> None:
    fault = only_fault(layered([LAYER | {"repeat": 6, "group": "all"}, LAYER], 3))
    assert "2" in fault.rule


def test_parameters_give_memory_by_the_rule_of_estimates() -> None:
    """One replica in bf16: 6 bytes of weight and gradient, 12 of optimizer, for each of 100 million."""
    (stage,) = stages_of(expand(layered([BARE | {"parameters_m": 100}], 1)))
    assert stage.static_mb == 1800
    assert stage.weights_mb is None
    (given,) = stages_of(expand(layered([LAYER | {"parameters_m": 100}], 1)))
    assert given.static_mb == 7


def test_parameters_are_shared_out_over_tensor_and_copies() -> None:
    changes: dict[str, Any] = {
        "sites": {"east": {"gpus": 8, "gpu": "a100-80gb", "hop_bandwidth_gbps": 400}},
        "parallel": {"tensor": 2, "pipeline": 1, "data": 4},
        "gradients": {"sharding": "zero1"},
    }
    expansion = expand(layered([BARE | {"parameters_m": 100}], **changes))
    (stage,) = stages_of(expansion)
    assert stage.static_mb == (600 + 1200 // 4) // 2
    assert stage.weights_mb == stage.reduced_mb == 200
    assert any("per parameter" in assumption.value for assumption in expansion.assumptions)


@pytest.mark.parametrize("kind", [{"forward_ms": 1, "frozen": True}, {"forward_ms": 1, "backward_input_ms": 1}])
def test_layers_that_do_not_train_hold_their_weights_alone(kind: dict[str, Any]) -> None:
    layers = [kind | {"parameters_m": 100, "weights_mb": 0}, BARE | {"parameters_m": 1}]
    first, _ = stages_of(expand(layered(layers)))
    assert first.static_mb == 200


def tied(devices: int, **changes: Any) -> Any:
    shared = {"tied": "embedding", "weights_mb": 30}
    layers = [LAYER | shared | {"static_mb": 40}, LAYER | {"weights_mb": 8}, LAYER | shared | {"static_mb": 50}]
    return expand(layered(layers, devices, **changes))


GRADIENTS: dict[str, Any] = {"parallel": {"data": 2}, "gradients": {"bandwidth_gbps": 100}}


def test_tied_layers_on_one_stage_count_once() -> None:
    expansion = tied(1, **GRADIENTS)
    (stage,) = stages_of(expansion)
    assert stage.static_mb == 57
    assert stage.weights_mb == stage.reduced_mb == 38
    assert expansion.spec.gradients.tied == []


def test_tied_layers_on_two_stages_are_held_twice_and_summed() -> None:
    expansion = tied(3, **GRADIENTS)
    assert [stage.static_mb for stage in stages_of(expansion)] == [40, 7, 50]
    assert expansion.spec.gradients.tied == [[0, 2]]
    assert expansion.spec.gradients.tied_mb == 30
    assert expand(expansion.spec).spec == expansion.spec


def test_tied_layers_without_gradients_are_told() -> None:
    expansion = tied(3)
    assert expansion.spec.gradients is None
    assert any("tied weights" in assumption.value for assumption in expansion.assumptions)


def test_tied_groups_with_a_stage_in_common_are_summed_as_one() -> None:
    layers = [
        LAYER | {"tied": "a", "weights_mb": 3},
        LAYER | {"tied": "b", "weights_mb": 4},
        LAYER | {"tied": "a", "weights_mb": 3},
        LAYER | {"tied": "b", "weights_mb": 4},
    ]
    preparation = prepare(layered(layers, 3, **GRADIENTS))
    found = preparation.expand(Assignment((2, 3, 4), (0, 1, 2), ("none",) * 3)).spec.gradients
    assert found is not None
    assert found.tied == [[0, 1, 2]]
    assert found.tied_mb == 7


def test_frozen_copies_sum_nothing() -> None:
    frozen = {"forward_ms": 1, "frozen": True, "tied": "a", "weights_mb": 3}
    expansion = expand(layered([frozen, LAYER | {"tied": "a", "weights_mb": 3}], **GRADIENTS))
    assert expansion.spec.gradients is not None
    assert expansion.spec.gradients.tied == []


def test_a_way_of_recomputation_is_open_where_a_layer_has_values_for_it() -> None:
    found = source([LAYER, LAYER | {"selective": CHEAP}, LAYER | {"full": ALL}])
    assert found.recompute_ways(0, 1) == ("none",)
    assert found.recompute_ways(0, 2) == ("none", "selective")
    assert found.recompute_ways(0, 3) == ("none", "selective", "full")


def test_a_stage_that_recomputes_adds_up_the_values_of_its_layers() -> None:
    """The layer without values for the way keeps its own; what W needs is no more than what F left."""
    preparation = prepare(layered([LAYER, LAYER | {"selective": CHEAP, "full": ALL}], 1))
    cases: tuple[tuple[Recompute, int, float, int, int], ...] = (
        ("none", 20, 0, 0, 8),
        ("selective", 16, 0.5, 0, 8),
        ("full", 11, 2, 9, 5),
    )
    for way, taken, again, extra, kept in cases:
        stage = preparation.source.stage(0, 2, preparation.degrees, way)
        held = (stage.activation_mb, stage.backward_extra_mb, stage.retained_mb)
        assert held == (Decimal(taken), Decimal(extra), Decimal(kept))
        assert stage.recompute_ms == Decimal(str(again))


@pytest.mark.parametrize(("way", "taken"), [("none", 20), ("selective", 12), ("full", 2)])
def test_training_recompute_holds_for_measured_layers(way: str, taken: int) -> None:
    layers = [LAYER | {"repeat": 2, "selective": CHEAP, "full": ALL}]
    (stage,) = stages_of(expand(layered(layers, 1, training={"microbatches": 8, "recompute": way})))
    assert stage.activation_mb == taken
