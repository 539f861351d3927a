"""Layers with a place of their own, in the search of assignments: kept by every answer, the best of those that do."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import pytest

from crosspipe import check, solve
from crosspipe.costs.assignment import Assignment
from crosspipe.costs.expand import prepare
from crosspipe.costs.layers import MeasuredLayers
from crosspipe.costs.pins import keeps
from crosspipe.errors import ScheduleFormatError
from crosspipe.spec.load import parse_spec

LAYER: dict[str, Any] = {"forward_ms": 4, "backward_ms": 8, "activation_mb": 10, "boundary_mb": 20}


def spec(layers: list[dict[str, Any]], **placement: Any) -> dict[str, Any]:
    return {
        "model": {"layers": layers},
        "training": {"microbatches": 3},
        "sites": {"a": {"devices": 2, "memory_gb": 1}, "b": {"devices": 1, "memory_gb": 1, "time_factor": 2}},
        "links": [{"between": ["a", "b"], "bandwidth_gbps": 40, "one_way_latency_ms": 5}],
        "placement": {"layers_per_stage": "auto", **placement},
    }


def places(answer: Any) -> list[tuple[int, str]]:
    return [(row.end_item, row.device) for row in answer.assignment]


PINNED = [
    [LAYER | {"site": "b"}, *[LAYER] * 3],
    [*[LAYER] * 2, LAYER | {"device": "a/1"}, LAYER],
    [LAYER | {"device": "a/0"}, LAYER | {"group": "g"}, LAYER | {"group": "g", "site": "b"}, LAYER, LAYER],
]


@pytest.mark.parametrize("layers", PINNED)
def test_the_answer_is_the_best_that_keeps_the_pins(layers: list[dict[str, Any]]) -> None:
    document = spec(layers)
    preparation = prepare(parse_spec(document))
    source = preparation.source
    assert isinstance(source, MeasuredLayers)
    names = [name for name, _ in preparation.devices]
    values = []
    for cut in combinations(range(1, source.item_count), 2):
        for order in permutations(range(3)):
            one = Assignment((*cut, source.item_count), order, ("none",) * 3)
            if keeps(source.pins(), one.runs, [names[device] for device in order]):
                expanded = preparation.expand(one).spec
                values.append(solve(expanded, time_limit_s=20, workers=1).objective.value_ms)
    answer = solve(document, time_limit_s=20, workers=1)
    assert answer.status == "optimal"
    assert answer.objective.value_ms == min(value for value in values if value is not None)
    ends = [end for end, _ in places(answer)]
    runs = list(zip([0, *ends[:-1]], ends, strict=True))
    assert keeps(source.pins(), runs, [device for _, device in places(answer)])


def test_groups_stay_whole_beside_the_rules_of_others() -> None:
    """Megatron's rule would part the group: it is no candidate, and nothing breaks."""
    layers = [LAYER | {"repeat": 2}, LAYER | {"repeat": 3, "group": "g"}, LAYER]
    answer = solve(spec(layers), time_limit_s=10, workers=1)
    assert answer.status == "optimal"
    assert places(answer)[-1][0] == 4


def test_an_answer_that_moves_a_pinned_layer_is_refused() -> None:
    layers = [LAYER | {"site": "b"}, *[LAYER] * 3]
    free = solve(spec([LAYER] * 4, device_order="given"), time_limit_s=10, workers=1)
    with pytest.raises(ScheduleFormatError, match="pins a layer"):
        check(spec(layers), free.model_dump(mode="json"))
