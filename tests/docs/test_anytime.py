"""The picture of value and bound over time: a panel per curve, lines that close in, words for those who cannot see."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from docs.generate.anytime import BOUND, TITLE, VALUE, picture, picture_part

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
MS = 10**6


def curve(key: str, states: list[list[float | None]], end_s: float) -> dict[str, Any]:
    return {"suite": "bench58", "key": key, "status": "feasible", "end_s": end_s, "states": states}


CLOSED = curve("closed", [[0.02, None, 900 * MS], [0.05, 1200 * MS, 900 * MS], [4.0, 1000 * MS, 1000 * MS]], 4.0)
OPEN = curve("open", [[0.02, 1000 * MS, 500 * MS], [2.0, 1000 * MS, 900 * MS]], 60.0)
CONSTANT = curve("constant", [[0.02, 10 * MS, 10 * MS]], 0.02)
UNBOUNDED = curve("unbounded", [[0.0, 10 * MS, None], [1.0, 9 * MS, None]], 5.0)
EMPTY = curve("empty", [[0.02, None, 5 * MS]], 5.0)


def written(folder: Path, *curves: dict[str, Any]) -> Path:
    path = folder / "anytime.json"
    path.write_text(json.dumps(curves))
    return path


def drawn(folder: Path, *curves: dict[str, Any]) -> ElementTree.Element:
    text = picture(written(folder, *curves))
    assert text is not None
    return ElementTree.fromstring(text)  # noqa: S314 - our own


def line(root: ElementTree.Element, colour: str) -> list[tuple[float, float]]:
    """The corners of the first line of a colour."""
    path = next(path for path in root.iter(f"{SVG}path") if path.get("stroke") == colour)
    corners = re.findall(r"([\d.]+) ([\d.]+)", path.get("d", ""))
    return [(float(x), float(y)) for x, y in corners]


def said(root: ElementTree.Element) -> list[str | None]:
    return [element.text for element in root.iter(f"{SVG}text")]


def test_nothing_measured_draws_nothing(tmp_path: Path) -> None:
    for source in (tmp_path / "none.json", written(tmp_path), written(tmp_path, EMPTY)):
        assert picture(source) is None
        assert picture_part(source) == "Not measured."


def test_lines_close_in_and_meet_where_it_is_proved(tmp_path: Path) -> None:
    root = drawn(tmp_path, CLOSED)
    value, bound = line(root, VALUE), line(root, BOUND)
    assert [y for _, y in value] == sorted(y for _, y in value)  # values fall, and y points down
    assert [y for _, y in bound] == sorted((y for _, y in bound), reverse=True)
    assert value[-1] == bound[-1]
    assert all(x <= later for (x, _), (later, _) in pairwise(value))
    (dot,) = root.iter(f"{SVG}circle")
    assert (float(dot.get("cx", "")), float(dot.get("cy", ""))) == value[-1]


def test_seconds_are_on_a_logarithmic_axis(tmp_path: Path) -> None:
    root = drawn(tmp_path, OPEN)
    places = {e.text: float(e.get("x", "")) for e in root.iter(f"{SVG}text") if e.get("text-anchor") == "middle"}
    assert places["0.1"] - places["0.01"] == pytest.approx(places["10"] - places["1"], abs=0.02)
    assert places["0.01"] <= line(root, VALUE)[0][0]


def test_what_stays_open_ends_apart(tmp_path: Path) -> None:
    root = drawn(tmp_path, OPEN)
    (value_x, value_y), (bound_x, bound_y) = line(root, VALUE)[-1], line(root, BOUND)[-1]
    assert value_x == bound_x
    assert value_y < bound_y
    assert list(root.iter(f"{SVG}circle")) == []
    assert "1,000 ms, gap 10.00 % after 60 s" in said(root)


def test_title_and_description(tmp_path: Path) -> None:
    root = drawn(tmp_path, CLOSED, OPEN)
    labels = {element.get("id"): element.text for element in root if element.get("id")}
    assert root.get("role") == "img"
    assert [labels[name] for name in root.get("aria-labelledby", "").split()] == [
        TITLE,
        "closed: 1,000 ms, proved in 4 s. open: 1,000 ms, gap 10.00 % after 60 s",
    ]
    assert "<script" not in ElementTree.tostring(root, encoding="unicode")


def test_three_panels_at_most_in_the_order_given(tmp_path: Path) -> None:
    curves = (EMPTY, CLOSED, OPEN, CONSTANT, UNBOUNDED)
    root = drawn(tmp_path, *curves)
    assert [words for words in said(root) if words in {curve["key"] for curve in curves}] == [
        "closed",
        "open",
        "constant",
    ]
    part = picture_part(tmp_path / "anytime.json")
    assert part.startswith(f"![{TITLE} of 3 instances](../images/anytime.svg)")
    assert "`closed` (bench58): 1,000 ms, proved in 4 s;" in part


@pytest.mark.parametrize("given", [CONSTANT, UNBOUNDED], ids=lambda given: given["key"])
def test_curves_without_width_or_bound(given: dict[str, Any], tmp_path: Path) -> None:
    root = drawn(tmp_path, given)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    assert all(0 <= x <= width and 0 <= y <= height for x, y in line(root, VALUE))
    assert len(line(root, VALUE)) >= 2


def test_everything_lies_within_the_picture(tmp_path: Path) -> None:
    root = drawn(tmp_path, CLOSED, OPEN, UNBOUNDED)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    for element in root.iter(f"{SVG}text"):
        assert 0 <= float(element.get("x", "")) <= width
        assert 0 <= float(element.get("y", "")) <= height
