"""Rules of placement, extra operations and limits."""

from __future__ import annotations

import pytest
from tests.unit.spec.documents import document, faults, stage

WAN = {"between": ["east", "west"], "bandwidth_gbps": 10, "group": "wan"}
HALF = {"between": ["east", "west"], "bandwidth_gbps": 10, "group": "air", "duplex": "half"}


@pytest.mark.parametrize(
    ("placement", "fields"),
    [
        ({"traversal": "loop"}, []),
        ({"map": ["west/0", "east/0"]}, []),
        ({"map": ["west/0", "west/0"]}, []),
        ({"map": []}, ["/map"]),
        ({"map": ["west/0"]}, ["/map"]),
        ({"map": ["west/0", "west/1"]}, ["/map/1"]),
        ({"map": ["west/0", "east"]}, ["/map/1"]),
        ({"map": ["west/0", "east/0"], "traversal": "wave"}, ["/traversal"]),
        ({"map": ["west/0", "east/0"], "stages_per_device": 2}, ["/stages_per_device"]),
        ({"traversal": "unidirectional", "stages_per_device": 1}, []),
        ({"traversal": "spiral"}, ["/traversal"]),
        ({"stages_per_device": 2}, ["/stages_per_device"]),
    ],
)
def test_placement(placement, fields):
    assert faults(document(placement=placement)) == [f"/placement{field}" for field in fields]


def test_stages_per_device_match_measured_stages():
    four = {"stages": [stage()] * 4}
    assert faults(document(model=four, placement={"stages_per_device": 2})) == []
    unidirectional = {"stages_per_device": 2, "traversal": "unidirectional"}
    assert faults(document(model=four, placement=unidirectional)) == ["/placement/stages_per_device"]
    assert faults(document(model="llama-3-8b", placement={"stages_per_device": 3})) == []


@pytest.mark.parametrize(
    ("extra", "links", "fields"),
    [
        ({"duration_ms": 5}, [WAN], []),
        ({"duration_ms": 5, "device": "east/0", "after": [1]}, [WAN], []),
        ({"duration_ms": 5, "lane": "wan/back", "before": [0, 1]}, [WAN], []),
        ({"size_mb": 5, "lane": "west->east"}, [WAN], []),
        ({"size_mb": 5, "lane": "west -> east"}, [WAN], []),
        ({"size_mb": 5, "lane": "air"}, [HALF], []),
        ({"size_mb": 5, "lane": "air/out"}, [HALF], []),
        ({"size_mb": 5, "lane": "reduce/out"}, [WAN, {"group": "reduce", "bandwidth_gbps": 5}], []),
        ({"size_mb": 5, "lane": "wan/out"}, [WAN, {"group": "wan", "closed_ms": [[0, 1]]}], []),
        ({"duration_ms": 5, "lane": "east-west/out"}, [{"between": ["east", "west"]}], []),
        ({}, [WAN], [""]),
        ({"size_mb": 5}, [WAN], ["/lane"]),
        ({"duration_ms": 5, "size_mb": 5, "lane": "wan/out"}, [WAN], ["/size_mb"]),
        ({"duration_ms": 0}, [WAN], ["/duration_ms"]),
        ({"duration_ms": 5, "lane": "wan/out", "device": "east/0"}, [WAN], ["/device"]),
        ({"duration_ms": 5, "device": "east"}, [WAN], ["/device"]),
        ({"duration_ms": 5, "lane": "wan"}, [WAN], ["/lane"]),
        ({"duration_ms": 5, "lane": "wan/sideways"}, [WAN], ["/lane"]),
        ({"duration_ms": 5, "lane": "east->north"}, [WAN], ["/lane"]),
        ({"duration_ms": 5, "lane": "wan/out"}, [], ["/lane"]),
        ({"size_mb": 5, "lane": "wan/out"}, [{**WAN, "bandwidth_gbps": None}], ["/lane"]),
        ({"duration_ms": 5, "after": [0, 2]}, [WAN], ["/after/1"]),
        ({"duration_ms": 5, "before": [9]}, [WAN], ["/before/0"]),
        ({"duration_ms": 5, "after": [0], "before": [1]}, [WAN], ["/before"]),
        ({"duration_ms": 5, "after": [-1]}, [WAN], ["/after/0"]),
    ],
)
def test_extra_operations(extra, links, fields):
    links = [{name: value for name, value in link.items() if value is not None} for link in links]
    given = document(links=links, extra_operations=[{"name": "reduce", **extra}])
    assert faults(given) == [f"/extra_operations/0{field}" for field in fields]


def test_a_frozen_stage_has_no_backward_to_wait_for():
    model = {"stages": [{"forward_ms": 1, "frozen": True}, stage()]}
    reduce = [{"name": "reduce", "duration_ms": 1, "after": [0, 1]}]
    assert faults(document(model=model, extra_operations=reduce)) == ["/extra_operations/0/after/0"]


def test_extra_operations_have_names_of_their_own():
    extras = [{"name": "a", "duration_ms": 1}, {"name": "b", "duration_ms": 1}, {"name": "a", "duration_ms": 1}]
    assert faults(document(extra_operations=extras)) == ["/extra_operations/2/name"]


@pytest.mark.parametrize(
    ("limits", "fields"),
    [
        ({"in_flight": 3, "deadline_ms": 100}, []),
        ({"in_flight": [3, None], "stage_deadlines_ms": {"0": 5, "1": 6}}, []),
        ({"in_flight": []}, ["/in_flight"]),
        ({"in_flight": [3, 3, 3]}, ["/in_flight"]),
        ({"in_flight": 0}, ["/in_flight"]),
        ({"deadline_ms": 0}, ["/deadline_ms"]),
        ({"stage_deadlines_ms": {"2": 5}}, ["/stage_deadlines_ms/2"]),
        ({"stage_deadlines_ms": {"first": 5}}, ["/stage_deadlines_ms/first"]),
        ({"stage_deadlines_ms": {"01": 5}}, ["/stage_deadlines_ms/01"]),
    ],
)
def test_limits(limits, fields):
    assert faults(document(limits=limits)) == [f"/limits{field}" for field in fields]


def test_stages_cut_by_the_pipeline_are_counted():
    given = document(model="llama-3-8b", parallel={"pipeline": 2}, placement={"stages_per_device": 2})
    assert faults(given | {"limits": {"in_flight": [1, 1, 1, 1]}}) == []
    assert faults(given | {"limits": {"in_flight": [1, 1]}}) == ["/limits/in_flight"]
    assert faults(document(model="llama-3-8b", limits={"in_flight": [1, 1, 1]})) == []
