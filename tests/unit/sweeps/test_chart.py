"""The chart of a sweep: lines over the first axis, bands down to the bounds, words for those who cannot see."""

from __future__ import annotations

import itertools
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.unit.sweeps.sweeping import READING, point

from crosspipe.export.svg import Caption
from crosspipe.export.svg.palette import PAPER
from crosspipe.sweeps.chart import MOST_PANELS, NAME_STEP, sweep_svg
from crosspipe.sweeps.models import Sweep

SVG = "{http://www.w3.org/2000/svg}"


def a_sweep(axes: dict[str, list[Any]], points: list[Any], **more: Any) -> Sweep:
    given = {
        "name": "a < b",
        "digest": "0" * 64,
        "objective": "makespan",
        "complete": True,
        "axes": [{"name": name, "values": values} for name, values in axes.items()],
        "points": points,
        "readings": [],
    }
    return Sweep.model_validate(given | more)


def drawn(found: Sweep, caption: Caption | None = None) -> ElementTree.Element:
    return ElementTree.fromstring(sweep_svg(found, caption))  # noqa: S314 - our own


def lines_of(root: ElementTree.Element) -> list[list[tuple[float, float]]]:
    paths = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("fill") == "none"]
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)] for path in paths]


def said(root: ElementTree.Element) -> list[str | None]:
    return [element.text for element in root.iter(f"{SVG}text")]


AXES = {"memory_gb": [32, 40, 48], "latency_ms": [0, 15]}
POINTS = [
    point({"memory_gb": memory, "latency_ms": latency}, 1400.0 - 5 * memory + latency, more)
    for memory in (32, 40, 48)
    for latency, more in ((0, None), (15, 1100.0))
]


def test_a_line_for_each_value_of_the_second_axis() -> None:
    root = drawn(a_sweep(AXES, POINTS))
    lines = lines_of(root)
    assert [len(line) for line in lines] == [3, 3]
    for line in lines:
        assert [y for _, y in line] == sorted(y for _, y in line)  # values fall, and y points down
        assert line[1][0] - line[0][0] == pytest.approx(line[2][0] - line[1][0], abs=0.02)
    assert all(upper[1] < lower[1] for upper, lower in zip(lines[1], lines[0], strict=True))
    texts = said(root)
    assert texts[:3] == [
        "a < b",
        "makespan over memory per device, a line for each one-way latency",
        "filled points are proved optimal, bands reach down to what is proved",
    ]
    assert {"32 GB", "40 GB", "48 GB", "0 ms", "15 ms"} <= set(texts)


def test_bands_and_open_dots_where_it_is_not_proved() -> None:
    root = drawn(a_sweep(AXES, POINTS))
    bands = [path for path in root.iter(f"{SVG}path") if path.get("fill-opacity")]
    assert len(bands) == 1
    dots = [dot.get("fill") for dot in root.iter(f"{SVG}circle")]
    assert dots.count(PAPER) == 3
    assert len(dots) == 6


def test_points_without_a_value_are_left_out_and_references_too() -> None:
    points = [
        point({"bandwidth_gbps": 1}, None),
        point({"bandwidth_gbps": 10}, 20.0),
        point({"bandwidth_gbps": 100}, 10.0),
        point({"bandwidth_gbps": None}, 9.0),
    ]
    root = drawn(a_sweep({"bandwidth_gbps": [1, 10, 100]}, points))
    assert len(list(root.iter(f"{SVG}circle"))) == 2
    assert [len(line) for line in lines_of(root)] == [2]


@pytest.mark.parametrize("points", [[], [point({"latency_ms": 0}, None)], [point({"latency_ms": 0}, 5.0)]])
def test_sweeps_with_next_to_nothing_in_them(points: list[Any]) -> None:
    root = drawn(a_sweep({"latency_ms": [0]}, points))
    width = float(root.get("width", ""))
    assert all(0 <= float(dot.get("cx", "")) <= width for dot in root.iter(f"{SVG}circle"))


def test_words_stand_side_by_side_and_further_axes_make_panels() -> None:
    counts = list(range(1, 15))
    axes: dict[str, list[Any]] = {"traversal": ["wave", "loop"], "latency_ms": [0], "microbatches": counts}
    points = [
        point({"traversal": word, "latency_ms": 0, "microbatches": count}, 10.0 * count)
        for word in axes["traversal"]
        for count in counts
    ]
    root = drawn(a_sweep(axes, points))
    texts = said(root)
    assert texts.count("wave") == MOST_PANELS
    assert "12 microbatches" in texts
    assert "13 microbatches" not in texts
    assert f"the first {MOST_PANELS} of 14 panels" in texts


def test_names_of_lines_do_not_cover_each_other() -> None:
    latencies = list(range(8))
    points = [point({"memory_gb": 1, "latency_ms": latency}, 100.0) for latency in latencies]
    root = drawn(a_sweep({"memory_gb": [1], "latency_ms": latencies}, points))
    places = {element.text: float(element.get("y", "")) for element in root.iter(f"{SVG}text")}
    heights = sorted(places[f"{latency} ms"] for latency in latencies)
    assert all(b - a >= NAME_STEP - 0.01 for a, b in itertools.pairwise(heights))


def test_title_and_description() -> None:
    root = drawn(a_sweep(AXES, POINTS, readings=[READING]), Caption("Frontier", ("one", "two")))
    labels = {element.get("id"): element.text for element in root if element.get("id")}
    assert root.get("role") == "img"
    assert [labels[name] for name in root.get("aria-labelledby", "").split()] == [
        "Frontier",
        "one. two. 15 ms cost nothing",
    ]
    assert "<script" not in ElementTree.tostring(root, encoding="unicode")
