"""Layers that must sit somewhere."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.costs.specs import layered, only_fault, stages_of

from crosspipe.costs import expand
from crosspipe.costs.expand import prepare
from crosspipe.costs.layers import MeasuredLayers
from crosspipe.costs.pins import Pin, reach
from crosspipe.costs.split import even_split
from crosspipe.problem.compile import compile_spec

LAYER: dict[str, Any] = {"forward_ms": 2, "backward_ms": 4, "activation_mb": 10, "boundary_mb": 5}
TWO: dict[str, Any] = {
    "sites": {"east": {"devices": 2}, "west": {"devices": 2}},
    "links": [{"between": ["east", "west"], "bandwidth_gbps": 10, "one_way_latency_ms": 5}],
}


def placed(layers: list[dict[str, Any]], **changes: Any) -> list[tuple[str | None, str]]:
    """Layers and device of each stage."""
    expansion = expand(layered(layers, **(TWO | changes)))
    assert compile_spec(expansion.spec, "pins")
    names = expansion.spec.placement.map
    assert names is not None
    return [(stage.layers, name) for stage, name in zip(stages_of(expansion), names, strict=True)]


def test_pins_are_told_of_items() -> None:
    layers = [LAYER | {"site": "east"}, LAYER | {"group": "g"}, LAYER | {"group": "g", "device": "west/1"}, LAYER]
    source = prepare(layered([*layers, LAYER], **TWO)).source
    assert isinstance(source, MeasuredLayers)
    assert source.pins() == (Pin("east"), Pin("west", "west/1"), None, None)


def test_a_pin_shifts_the_cut() -> None:
    """By time the stages would be of two layers each; the fourth must already be in the west."""
    layers = [LAYER | {"repeat": 3}, LAYER | {"site": "west"}, LAYER | {"repeat": 4}]
    assert placed(layers) == [("0", "east/0"), ("1", "east/1"), ("2-4", "west/0"), ("5-7", "west/1")]


def test_pins_choose_the_order_of_devices() -> None:
    layers = [LAYER | {"site": "west"}, LAYER | {"repeat": 6}, LAYER | {"device": "east/0"}]
    assert [device for _, device in placed(layers)] == ["west/0", "west/1", "east/1", "east/0"]


def test_a_site_may_be_asked_for_twice() -> None:
    layers = [LAYER | {"site": "west"}, LAYER | {"repeat": 2, "site": "east"}, LAYER | {"site": "west"}]
    devices = [device for _, device in placed(layers)]
    assert devices == ["west/0", "east/0", "east/1", "west/1"]


def test_a_given_order_is_kept_or_refused() -> None:
    layers = [LAYER | {"site": "west"}, LAYER | {"repeat": 6}, LAYER]
    fault = only_fault(layered(layers, **TWO, placement={"device_order": "given"}))
    assert fault.pointer == "/model/layers"
    assert "east/0" in fault.rule


def test_a_map_is_kept() -> None:
    layers = [LAYER | {"repeat": 3, "site": "west"}, LAYER]
    assert placed(layers, placement={"map": ["west/1", "west/0", "east/0"]})[0] == ("0", "west/1")
    fault = only_fault(layered(layers, **TWO, placement={"map": ["east/0", "west/0"]}))
    assert fault.pointer == "/model/layers"


def test_a_given_cut_against_the_pins_is_refused() -> None:
    layers = [LAYER | {"repeat": 3}, LAYER | {"site": "west"}, LAYER]
    choice = {"layers_per_stage": [1, 3, 1], "map": ["east/0", "east/1", "west/0"]}
    fault = only_fault(layered(layers, **TWO, placement=choice))
    assert fault.pointer == "/placement/layers_per_stage/1"
    assert "west" in fault.rule


def test_pins_that_no_pipeline_can_keep_are_refused() -> None:
    layers = [LAYER | {"device": "east/0"}, LAYER | {"device": "west/0"}, LAYER | {"device": "east/0"}, LAYER]
    assert only_fault(layered(layers, **TWO)).pointer == "/model/layers"


def test_the_longest_runs() -> None:
    pins = [None, Pin("a"), Pin("b"), None]
    assert reach(pins, "a/0") == (2, 2, 2, 4)
    assert reach(pins, "b/7") == (1, 1, 4, 4)


@given(data=st.data())
def test_the_cut_is_the_best_of_those_that_keep_the_pins(data: st.DataObject) -> None:
    works = data.draw(st.lists(st.integers(0, 9), min_size=2, max_size=7))
    stages = data.draw(st.integers(1, len(works)))
    place = st.sampled_from([None, Pin("a"), Pin("b"), Pin("a", "a/0")])
    pins = data.draw(st.lists(place, min_size=len(works), max_size=len(works)))
    devices = data.draw(st.lists(st.sampled_from(["a/0", "a/1", "b/0"]), min_size=stages, max_size=stages))

    def fits(ends: tuple[int, ...]) -> bool:
        runs = zip((0, *ends), (*ends, len(works)), devices, strict=True)
        return all(pin is None or pin.allows(name) for first, end, name in runs for pin in pins[first:end])

    def loads(ends: tuple[int, ...]) -> list[int]:
        return [sum(works[first:end]) for first, end in zip((0, *ends), (*ends, len(works)), strict=True)]

    legal = [loads(ends) for ends in combinations(range(1, len(works)), stages - 1) if fits(ends)]
    reaches = [reach(pins, name) for name in devices]
    if not legal:
        with pytest.raises(ValueError, match="no cut"):
            even_split(works, [Fraction(1)] * stages, reaches)
        return
    found = [sum(works[i] for i in run) for run in even_split(works, [Fraction(1)] * stages, reaches)]
    least = min(max(load) for load in legal)
    assert (max(found), min(found)) == (least, max(min(load) for load in legal if max(load) == least))
