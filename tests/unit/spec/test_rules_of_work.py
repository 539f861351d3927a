"""Rules of stages, layers and the model: what is refused, and what close to it is not."""

from __future__ import annotations

import pytest
from tests.unit.spec.documents import CONFIG, document, faults, stage

OPTION = {"activation_mb": 10, "recompute_ms": 5}


@pytest.mark.parametrize(
    "given",
    [
        stage(),
        stage(backward_weight_ms=None),
        stage(backward_input_ms=None, backward_weight_ms=None, backward_ms=16),
        stage(retained_mb=100),
        stage(retained_mb=0),
        stage(retained_mb=40, recompute_ms=3, backward_extra_mb=20, recompute_option=OPTION),
        stage(backward_weight_ms=None, retained_mb=100),
        stage(backward_weight_ms=None, retained_mb=0),
    ],
)
def test_legal_stages(given):
    assert faults(document(model={"stages": [stage(), given]})) == []


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        (stage(backward_input_ms=None, backward_weight_ms=None), [""]),
        (stage(backward_input_ms=None), ["/backward_weight_ms"]),
        (stage(backward_ms=1), ["/backward_ms"]),
        (stage(backward_input_ms=None, backward_ms=1), ["/backward_ms"]),
        (stage(frozen=True), ["/backward_input_ms", "/backward_weight_ms"]),
        (
            {"forward_ms": 1, "frozen": True, "recompute_ms": 1, "backward_extra_mb": 1, "recompute_option": OPTION},
            ["/recompute_ms", "/backward_extra_mb", "/recompute_option"],
        ),
        (stage(retained_mb=100.5), ["/retained_mb"]),
        (stage(backward_weight_ms=None, retained_mb=50), ["/retained_mb"]),
        ({"forward_ms": 1, "frozen": True, "activation_mb": 4, "retained_mb": 2}, ["/retained_mb"]),
        (stage(recompute_option={"activation_mb": 10}), ["/recompute_option/recompute_ms"]),
    ],
)
def test_refused_stages(given, fields):
    assert faults(document(model={"stages": [given, stage()]})) == [f"/model/stages/0{field}" for field in fields]


def test_layers_keep_the_same_rules():
    layers = [{"forward_ms": 1, "frozen": True}, stage(), stage(backward_ms=1), {"forward_ms": 1, "frozen": True}]
    assert faults(document(model={"layers": layers})) == ["/model/layers/2/backward_ms", "/model/layers/3/frozen"]


def test_frozen_stages_come_first():
    frozen = {"forward_ms": 1, "frozen": True}
    only_b = stage(backward_weight_ms=None)
    assert faults(document(model={"stages": [frozen, stage()]})) == []
    assert faults(document(model={"stages": [frozen, frozen]})) == []
    assert faults(document(model={"stages": [stage(), only_b]})) == []
    assert faults(document(model={"stages": [only_b, frozen]})) == ["/model/stages/1/frozen"]


def test_devices_for_all_stages_or_none():
    placed = [stage(device="east/0"), stage(device="west/0")]
    assert faults(document(model={"stages": placed})) == []
    assert faults(document(model={"stages": [placed[0], stage()]})) == ["/model/stages/1/device"]
    assert faults(document(model={"stages": [placed[0], stage(device="west/1")]})) == ["/model/stages/1/device"]
    beside = {"map": ["east/0", "west/0"]}
    assert faults(document(model={"stages": placed}, placement=beside)) == ["/placement/map"]
    assert faults(document(model={"stages": placed}, placement={"traversal": "loop"})) == ["/placement/traversal"]


@pytest.mark.parametrize("name", ["num_local_experts", "num_experts", "n_routed_experts"])
def test_experts_are_chosen_by_a_number(name):
    assert faults(document(model={**CONFIG, name: 8})) == ["/model/num_experts_per_tok"]
    assert faults(document(model={**CONFIG, name: 8, "num_experts_per_tok": 9})) == ["/model/num_experts_per_tok"]
    assert faults(document(model={**CONFIG, name: 8, "num_experts_per_tok": 8})) == []
    assert faults(document(model={**CONFIG, name: 0})) == []
    assert faults(document(model={**CONFIG, name: None})) == []
