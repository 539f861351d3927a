"""The table of a sweep: rows and columns of the first two axes, marks where proved."""

from __future__ import annotations

from typing import Any

from tests.unit.sweeps.sweeping import READING, point

from crosspipe.sweeps.models import Sweep
from crosspipe.sweeps.table import sweep_text


def told(axes: dict[str, list[Any]], points: list[Any], **more: Any) -> list[str]:
    given = {
        "name": "two sites",
        "digest": "0" * 64,
        "objective": "makespan",
        "complete": True,
        "axes": [{"name": name, "values": values} for name, values in axes.items()],
        "points": points,
        "readings": [],
    }
    return sweep_text(Sweep.model_validate(given | more))


def test_one_axis_is_a_list_with_bound_and_gap() -> None:
    points = [
        point({"latency_ms": 0}, 1310.4),
        point({"latency_ms": 15}, 1400.0, 1386.0, value_from="neighbour 30 ms"),
    ]
    assert told({"latency_ms": [0, 15]}, points) == [
        "sweep of two sites: makespan in ms at 2 points",
        "latency_ms  makespan    bound     gap  schedule from",
        "0 ms         1,310.4  1,310.4  proved  greedy",
        "15 ms        1,400.0  1,386.0  1.00 %  neighbour 30 ms",
        "* proved optimal; the largest gap of the others is 1.00 %, at 15 ms",
    ]


def test_two_axes_are_a_matrix() -> None:
    points = [
        point({"memory_gb": 32, "latency_ms": 0}, 1310.4),
        point({"memory_gb": 32, "latency_ms": 15}, None),
        point({"memory_gb": 40, "latency_ms": 0}, 1236.5, 1200.0),
    ]
    assert told({"memory_gb": [32, 40], "latency_ms": [0, 15]}, points) == [
        "sweep of two sites: makespan in ms at 3 points",
        "            0 ms   15 ms",
        "32 GB  1,310.4 *  none",
        "40 GB  1,236.5       -",
        "* proved optimal; the largest gap of the others is 2.95 %, at 40 GB, 0 ms",
        "no schedule: no room",
    ]


def test_a_reason_is_said_once_and_no_mark_explained_that_is_not_there() -> None:
    why = "no link leads from east/0 to west/0"
    points = [
        point({"latency_ms": 0}, None, explanation=why),
        point({"latency_ms": 5}, None, explanation=f"nor has neighbour 0 ms: {why}"),
    ]
    lines = told({"latency_ms": [0, 5]}, points)
    assert len(lines) == 5
    assert lines[-2].startswith("5 ms")
    assert lines[-1] == f"no schedule: {why}"


def test_a_reference_is_a_column_of_its_own() -> None:
    points = [
        point({"memory_gb": 32, "bandwidth_gbps": 10}, 1400.0),
        point({"memory_gb": 32, "bandwidth_gbps": None}, 1390.0),
    ]
    lines = told({"memory_gb": [32], "bandwidth_gbps": [10]}, points)
    assert lines[0].endswith("at 1 point")
    assert lines[1].split("  ")[-1] == "no transfer time"
    assert lines[2].split() == ["32", "GB", "1,400.0", "*", "1,390.0", "*"]


def test_axes_of_one_place_are_told_apart() -> None:
    at = {"memory_gb:east": 32, "memory_gb:west": 40, "latency_ms:east-west": 5}
    lines = told({name: [value] for name, value in at.items()}, [point(at, 9.0)])
    assert lines[1:4] == ["east-west 5 ms:", "            west 40 GB", "east 32 GB       9.0 *"]


def test_further_axes_are_matrices_below_each_other() -> None:
    axes: dict[str, list[Any]] = {"memory_gb": [32], "latency_ms": [0], "traversal": ["loop", "wave"]}
    points = [
        point({"memory_gb": 32, "latency_ms": 0, "traversal": "loop"}, 10.0),
        point({"memory_gb": 32, "latency_ms": 0, "traversal": "wave"}, 9.0),
    ]
    lines = told(axes, points)
    assert [line for line in lines if line.endswith(":")] == ["loop:", "wave:"]
    assert lines[lines.index("wave:") + 2].split() == ["32", "GB", "9.0", "*"]


def test_readings_follow_the_first_ones_in_full() -> None:
    readings = [READING | {"sentence": f"Reading {number}."} for number in range(15)]
    lines = told({"latency_ms": [0]}, [point({"latency_ms": 0}, 10.0)], readings=readings)
    assert lines[-2:] == ["Reading 11.", "... and 3 readings more in --format json"]
