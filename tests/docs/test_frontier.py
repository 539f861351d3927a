"""The frontier of the example: what stands on the page is what was measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from docs.generate.benchmark_cells import NOT_MEASURED
from docs.generate.frontier import MEASURED, TITLE, frontier_part, picture
from docs.generate.measure_frontier import EXAMPLE, LATENCY_MS, MEMORY

from crosspipe.answer.bound import bound
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import load_spec, parse_spec
from crosspipe.sweeps.models import Sweep

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"


def measured() -> Sweep:
    return Sweep.model_validate(json.loads(MEASURED.read_text())["sweep"])


def test_it_is_the_whole_grid_of_the_example() -> None:
    found = measured()
    assert found.complete
    assert found.digest == spec_digest(load_spec(EXAMPLE))
    assert [tuple(point.at.values()) for point in found.points] == [
        (float(memory), float(latency)) for memory in MEMORY for latency in LATENCY_MS
    ]


def test_no_point_contradicts_what_is_bounded_now() -> None:
    """At the example's own memory: a value below a bound of today would be wrong, whoever measured it."""
    text = EXAMPLE.read_text()
    for point in measured().points:
        if point.at["memory"] == 1:
            spec = parse_spec(text.replace("latency_ms: 15", f"latency_ms: {point.at['latency_ms']}"))
            assert spec_digest(spec) == point.digest
            least = bound(spec, time_limit_s=0).bound_ms
            assert least is not None
            assert point.value_ms is not None
            assert least <= point.value_ms


def test_the_page_has_every_point_and_the_picture_a_line_for_each_latency() -> None:
    part = frontier_part()
    rows = [line for line in part.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(MEMORY)
    assert all(row.count("|") == 2 + len(LATENCY_MS) for row in rows)
    proved = sum(point.status == "optimal" for point in measured().points)
    assert f"{proved} of 48 points are proved optimal" in part
    text = picture()
    assert text is not None
    root = ElementTree.fromstring(text)  # noqa: S314 - our own
    assert len(list(root.iter(f"{SVG}circle"))) == len(MEMORY) * len(LATENCY_MS)
    assert root.find(f"{SVG}title") is not None
    assert TITLE in text


def test_nothing_measured_draws_nothing(tmp_path: Path) -> None:
    assert picture(tmp_path / "none.json") is None
    assert frontier_part(tmp_path / "none.json") == NOT_MEASURED
