"""Axes: what they write into a spec, which values and places they take."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.unit.sweeps.sweeping import SPEC, grid, tree

from crosspipe.errors import OptionError, SpecError
from crosspipe.sweeps.axes import axis_text, named_axis, value_text
from crosspipe.sweeps.ranges import numbers


def written(name: str, value: object, spec: Any = SPEC) -> dict[str, Any]:
    given = tree(spec)
    axis = named_axis(name, [value], given)
    axis.write(given, axis.values[0])
    return given


def test_memory_of_every_device_or_of_one_site() -> None:
    assert [site["memory_gb"] for site in written("memory_gb", 0.5)["sites"].values()] == [Decimal("0.5")] * 2
    placed = written("memory_gb:west", 0.5)["sites"]
    assert (placed["east"]["memory_gb"], placed["west"]["memory_gb"]) == (Decimal("0.3"), Decimal("0.5"))


def test_a_factor_multiplies_each_pool() -> None:
    pools = [{"devices": 1, "memory_gb": 0.2}, {"devices": 1, "memory_gb": 0.4}]
    spec = SPEC | {"sites": {"east": {"pools": pools}, "west": {"devices": 2, "memory_gb": 0.3}}}
    sites = written("memory", 1.5, spec)["sites"]
    assert [pool["memory_gb"] for pool in sites["east"]["pools"]] == [Decimal("0.30"), Decimal("0.60")]
    assert sites["west"]["memory_gb"] == Decimal("0.45")


def test_a_factor_of_the_catalogues_memory() -> None:
    spec = {
        "model": "llama-3-70b",
        "training": {"global_batch": 64, "microbatch": 1, "sequence_length": 4096},
        "sites": {"east": {"gpus": 64, "gpu": "h100-80gb"}},
    }
    assert written("memory", 2, spec)["sites"]["east"]["memory_gb"] == 160


def test_a_factor_needs_a_memory_to_multiply() -> None:
    spec = SPEC | {"sites": {"east": {"devices": 4}}, "links": []}
    with pytest.raises(OptionError, match="must have a memory to multiply"):
        written("memory", 2, spec)


def test_factors_multiply_what_each_link_has() -> None:
    (link,) = written("latency", 1.5)["links"]
    assert link["rtt_ms"] == 12
    (link,) = written("bandwidth", 0.25)["links"]
    assert link["bandwidth_gbps"] == 25
    table = SPEC | {"links": [{"between": ["east", "west"], "transfer_table": [[1, 1], [2, 3]]}]}
    (link,) = written("bandwidth", 2, table)["links"]
    assert link["transfer_table"] == [[1, Decimal("0.5")], [2, Decimal("1.5")]]
    slower = {"between": ["east", "west"], "transfer_ms": 8, "bandwidth_gbps": 10, "slow_ms": [[0, 5, 1]]}
    (link,) = written("bandwidth", 4, SPEC | {"links": [slower]})["links"]
    assert (link["transfer_ms"], link["bandwidth_gbps"], link["slow_ms"]) == (2, 40, [[0, 5, 4]])
    with pytest.raises(OptionError, match="factors above 0"):
        written("bandwidth", 0)


def test_latency_and_bandwidth_take_the_place_of_other_ways_to_say_them() -> None:
    (link,) = written("latency_ms", 5)["links"]
    assert "rtt_ms" not in link
    assert link["one_way_latency_ms"] == 5
    table = SPEC | {"links": [{"between": ["east", "west"], "transfer_table": [[1, 1], [2, 3]]}]}
    (link,) = written("bandwidth_gbps", 25, table)["links"]
    assert "transfer_table" not in link
    assert link["bandwidth_gbps"] == 25
    (link,) = written("bandwidth_gbps", 25)["links"]
    assert link["bandwidth_gbps"] == 25


def test_links_inside_a_site_stay_and_one_link_may_vary_alone() -> None:
    inside = {"between": ["east/0", "east/1"], "one_way_latency_ms": 0.1}
    back = {"from": "west", "to": "east", "one_way_latency_ms": 1}
    out = {"from": "east", "to": "west", "one_way_latency_ms": 1}
    spec = SPEC | {"links": [inside, out, back]}
    latencies = [link["one_way_latency_ms"] for link in written("latency_ms", 7, spec)["links"]]
    assert latencies == [Decimal("0.1"), 7, 7]
    latencies = [link["one_way_latency_ms"] for link in written("latency_ms:west->east", 7, spec)["links"]]
    assert latencies == [Decimal("0.1"), 1, 7]
    assert written("latency_ms:wan", 7)["links"][0]["one_way_latency_ms"] == 7


def test_microbatches_stand_in_place_of_a_global_batch() -> None:
    spec = SPEC | {"training": {"global_batch": 8, "microbatch": 2}, "parallel": {"data": 1}}
    assert written("microbatches", 6, spec)["training"] == {"microbatches": 6, "microbatch": 2}


def test_caps_and_traversals() -> None:
    assert written("in_flight", 2)["limits"] == {"in_flight": 2}
    assert written("traversal", "wave")["placement"] == {"traversal": "wave"}
    llama = SPEC | {"model": "llama-3-8b", "sites": {"east": {"gpus": 8, "gpu": "h100-80gb"}}, "links": []}
    assert written("traversal", "wave", llama)["placement"] == {"traversal": "wave", "stages_per_device": 2}
    waves = llama | {"placement": {"stages_per_device": 4, "traversal": "wave"}}
    assert written("traversal", "loop", waves)["placement"] == {"traversal": "loop", "stages_per_device": 4}
    assert written("traversal", "unidirectional", waves)["placement"] == {"traversal": "unidirectional"}


def test_deadlines_of_stages_stay_while_something_else_varies() -> None:
    points = grid({"memory": [1, 2]}, SPEC | {"limits": {"stage_deadlines_ms": {"1": 90}}}).points.values()
    assert [point.spec.limits.stage_deadlines_ms for point in points] == [{1: Decimal(90)}] * 2


def test_numbers_are_sorted_and_kept_once_words_stay() -> None:
    assert named_axis("latency_ms", [15, 0, 15.0, 7.5], tree()).values == (0, Decimal("7.5"), 15)
    assert named_axis("traversal", ["wave", "loop", "wave"], tree()).values == ("wave", "loop")


def test_a_wrong_number_is_said_as_it_was_given() -> None:
    with pytest.raises(OptionError) as refused:
        grid({"microbatches": [Decimal("2.5")]})
    assert refused.value.faults[0].value == "2.5"


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("memory_mb", [1], "must be one of memory_gb, memory, latency_ms"),
        ("memory_gb:north", [1], "must name one of east, west"),
        ("latency_ms:east-north", [1], "must name one of east-west, wan"),
        ("microbatches:east", [1], "must name no place"),
        ("memory_gb", [], "must be a list of values"),
        ("memory_gb", "32", "must be a list of values"),
        ("memory_gb", 32, "must be a list of values"),
        ("memory_gb", ["32"], "must hold numbers"),
        ("memory_gb", [True], "must hold numbers"),
        ("memory_gb", [float("nan")], "must hold numbers"),
        ("microbatches", [2.5], "must hold whole numbers"),
        ("traversal", [3], "must hold words"),
    ],
)
def test_a_wrong_axis_is_named(name: str, values: Any, told: str) -> None:
    with pytest.raises(OptionError, match=told):
        grid({name: values})


def test_what_can_not_be_swept_together_or_at_all() -> None:
    with pytest.raises(OptionError, match="must hold an axis at least"):
        grid({})
    with pytest.raises(OptionError, match="must not stand beside `memory_gb`"):
        grid({"memory_gb": [1], "memory": [1]})
    with pytest.raises(OptionError, match="/axes/memory_gb:east: must not stand beside `memory_gb`"):
        grid({"memory_gb:east": [1], "memory_gb": [1]})
    with pytest.raises(OptionError, match="must map what varies to its values"):
        grid(["memory_gb"])  # type: ignore[arg-type]  # what untyped callers may pass
    with pytest.raises(OptionError, match="must make at most 10000 points"):
        grid({"memory_gb": list(range(1, 200)), "latency_ms": list(range(200))})
    with pytest.raises(OptionError, match="must find a link between two sites"):
        grid({"latency_ms": [1]}, SPEC | {"sites": {"east": {"devices": 4}}, "links": []})


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ({"latency_ms": [0, -1]}, r"must be at least 0 ms \(at latency_ms -1\)"),
        ({"microbatches": [4, 0]}, r"must be at least 1 \(at microbatches 0\)"),
        ({"traversal": ["unidirectional", "round"], "in_flight": [2]}, r"\(at traversal round, in_flight 2\)"),
        ({"bandwidth_gbps": [0]}, r"\(at bandwidth_gbps 0\)"),
    ],
)
def test_a_value_that_makes_the_spec_invalid_is_told_before_anything_is_solved(axes: Any, told: str) -> None:
    with pytest.raises(SpecError, match=told):
        grid(axes)


def test_values_in_words() -> None:
    assert value_text("memory_gb", 32) == "32 GB"
    assert value_text("memory:east", 1.25) == "east 1.25x"
    assert value_text("traversal", "wave") == "wave"
    assert value_text("bandwidth_gbps", None) == "no transfer time"
    assert axis_text("latency_ms:east-west") == "one-way latency (east-west)"


@pytest.mark.parametrize(
    ("text", "suffix", "values"),
    [
        ("32,40, 48", "", ["32", "40", "48"]),
        ("0:30:10", "", ["0", "10", "20", "30"]),
        ("0:1:0.4,5", "", ["0", "0.4", "0.8", "5"]),
        ("1x:2x:0.5x", "x", ["1", "1.5", "2.0"]),
        ("1:2:0.5", "x", ["1", "1.5", "2.0"]),
    ],
)
def test_ranges(text: str, suffix: str, values: list[str]) -> None:
    assert numbers("memory", text, suffix) == [Decimal(value) for value in values]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "must be a number"),
        ("many", "must be a number"),
        ("1,", "must be a number"),
        ("1x", "must be a number"),
        ("1:2", "first:last:step"),
        ("1:2:3:4", "first:last:step"),
        ("1:2:0", "by a step above 0"),
        ("2:1:1", "must rise"),
        ("0:1:0.0001", "at most 1000 values"),
        ("inf", "ordinary"),
        ("0:inf:1", "ordinary"),
    ],
)
def test_a_wrong_range_is_named(text: str, told: str) -> None:
    with pytest.raises(OptionError, match=told):
        numbers("memory", text)
