"""A cut that the user gives: taken as it is, or refused with both totals."""

from __future__ import annotations

from typing import Any

import pytest

from crosspipe import solve
from crosspipe.costs.expand import expand
from crosspipe.errors import SpecError
from crosspipe.spec.load import parse_spec
from crosspipe.spec.stages import StagesModel

LAYER = {"forward_ms": 1, "backward_input_ms": 1, "backward_weight_ms": 1}


def measured(counts: list[int], **placement: Any) -> dict[str, Any]:
    return {
        "model": {"layers": [LAYER | {"repeat": 9}, LAYER | {"forward_ms": 3, "name": "head"}]},
        "training": {"microbatches": 4},
        "sites": {"east": {"devices": 2}, "west": {"devices": 1}},
        "placement": {"layers_per_stage": counts, **placement},
        "links": [{"between": ["east", "west"], "one_way_latency_ms": 1}],
    }


def named(counts: list[int]) -> dict[str, Any]:
    return {
        "model": "llama-3-8b",
        "training": {"microbatches": 4, "sequence_length": 4096},
        "sites": {"east": {"gpus": 32, "gpu": "h100-80gb"}},
        "placement": {"layers_per_stage": counts},
    }


def stages(spec: dict[str, Any]) -> list[str | None]:
    model = expand(parse_spec(spec)).spec.model
    assert isinstance(model, StagesModel)
    assert isinstance(model.stages, list)
    return [stage.layers for stage in model.stages]


def test_measured_layers_are_cut_as_given() -> None:
    assert stages(measured([2, 7, 1])) == ["0-1", "2-8", "head"]


def test_the_given_cut_decides_the_value() -> None:
    """The slowest stage runs its 7 layers 4 times; the balanced cut has 4 layers at most."""
    given = solve(measured([2, 7, 1]), time_limit_s=5)
    balanced = solve(measured([]) | {"placement": {"layers_per_stage": "even"}}, time_limit_s=5)
    best = solve({key: value for key, value in measured([]).items() if key != "placement"}, time_limit_s=5)
    assert given.objective.value_ms is not None
    assert balanced.objective.value_ms is not None
    assert best.objective.value_ms is not None
    assert given.objective.value_ms >= 4 * 7 * 3 > balanced.objective.value_ms >= best.objective.value_ms
    assert not any("the cut of the layers" in note for note in given.notes)
    assert any("the cut of the layers" in note for note in balanced.notes)
    assert not any("the cut of the layers" in note for note in best.notes)


def test_a_named_model_is_cut_as_given_and_its_pipeline_follows() -> None:
    assert stages(named([9, 9, 9, 6])) == ["embedding, 0-8", "9-17", "18-26", "27-31, head"]


def test_expanding_again_changes_nothing() -> None:
    once = expand(parse_spec(measured([2, 7, 1]))).spec
    assert expand(once).spec == once


def test_a_cut_that_does_not_add_up_is_refused_with_both_totals() -> None:
    with pytest.raises(SpecError) as refused:
        expand(parse_spec(measured([2, 6, 1])))
    (fault,) = refused.value.faults
    assert fault.pointer == "/placement/layers_per_stage"
    assert "adds up to 10" in fault.rule
    assert fault.value is not None
    assert "adds up to 9" in fault.value
    assert fault.nearest == "[2, 6, 2]"


def test_a_cut_for_another_number_of_stages_is_refused() -> None:
    with pytest.raises(SpecError, match="layers_per_stage is for 2 stages"):
        expand(parse_spec(measured([5, 5])))


def test_measured_stages_are_not_cut() -> None:
    spec = measured([2, 7, 1]) | {"model": {"stages": [LAYER] * 3}}
    with pytest.raises(SpecError, match="must be left out beside measured"):
        expand(parse_spec(spec))
