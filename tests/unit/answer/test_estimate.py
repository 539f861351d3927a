"""`estimate`: costs of items and stages, in Python and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import crosspipe
from crosspipe.answer.estimate_text import estimate_text
from crosspipe.costs.catalogue import model_names

if TYPE_CHECKING:
    from crosspipe.answer.estimate import Estimate

SITES = {"here": {"gpus": 32, "gpu": "h100-80gb"}}
TRAINING = {"microbatches": 8, "microbatch": 1, "sequence_length": 4096}


def of(model: object, **changes: Any) -> Estimate:
    parallel = {"tensor": 8, "pipeline": 4, "data": 1}
    return crosspipe.estimate({"model": model, "training": TRAINING, "parallel": parallel, "sites": SITES} | changes)


def test_items_alike_in_a_row_are_told_once() -> None:
    found = of("deepseek-v3")
    assert [(item.count, item.kind, item.layers) for item in found.items] == [
        (1, "embedding and layer", "embedding, 0"),
        (2, "layer", "1-2"),
        (58, "layer with experts", "3-60"),
        (1, "multi-token prediction", "multi-token prediction"),
        (1, "head", "head"),
    ]


@pytest.mark.parametrize(
    "name", [name for name in model_names() if not name.startswith(("zero", "deepseek", "llama-3.2"))]
)
def test_items_and_stages_add_up_to_the_model(name: str) -> None:
    """Models with ends of their own: nothing is held twice."""
    found = of(name, parallel={"tensor": 4, "pipeline": 8, "data": 1})
    whole = sum(stage.parameters or 0 for stage in found.stages)
    assert whole == sum(item.count * (item.parameters or 0) for item in found.items)
    forward = sum(stage.forward_ms for stage in found.stages)
    assert forward == pytest.approx(sum(item.count * item.forward_ms for item in found.items), rel=2e-3)


def test_every_assumption_says_what_to_write_instead() -> None:
    found = of("mixtral-8x7b")
    assert len(found.assumptions) > 8
    assert all(one.value and one.why and one.override for one in found.assumptions)
    assert any("experts" in one.value for one in found.assumptions)


def test_measured_stages_are_told_as_they_are() -> None:
    stages = [{"forward_ms": 2, "backward_ms": 3, "activation_mb": 5}] * 2
    found = of({"stages": stages}, sites={"here": {"devices": 2}}, parallel={})
    assert found.items == []
    assert [(one.forward_ms, one.backward_ms, one.retained_mb) for one in found.stages] == [(2, 3, 5)] * 2
    assert all(one.parameters is None and one.backward_input_ms is None for one in found.stages)


def test_measured_layers_are_items() -> None:
    layers = [
        {"name": "embedding", "forward_ms": 1, "backward_ms": 1},
        {"name": "decoder", "repeat": 6, "forward_ms": 4, "backward_ms": 8},
    ]
    found = of({"layers": layers}, sites={"here": {"devices": 2}}, parallel={})
    assert [(item.count, item.forward_ms) for item in found.items] == [(1, 1), (6, 4)]
    assert [one.device for one in found.stages] == ["here/0", "here/1"]


def test_times_in_the_text_are_those_of_the_stage_s_device() -> None:
    pools = {"pools": [{"gpus": 16, "gpu": "h100-80gb"}, {"gpus": 16, "gpu": "h100-80gb", "time_factor": 2}]}
    found = of("llama-3-8b", sites={"here": pools})
    last = found.stages[-1]
    assert last.time_factor == 2
    line = next(line for line in estimate_text(found) if line.startswith("3 "))
    assert f"{2 * last.forward_ms:.3f}" in line


def test_the_text_tells_items_stages_and_assumptions() -> None:
    lines = list(estimate_text(of("llama-3-8b")))
    assert lines[0].startswith("per item")
    assert "assumed" in lines
    assert max(map(len, lines[lines.index("assumed") :])) <= 110
