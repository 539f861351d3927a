"""The table of formats and the small formats in it."""

from __future__ import annotations

import json

import pytest
from tests.unit.export.pipelines import WAN, greedy, pipeline, zb_h1

from crosspipe.errors import ExportError
from crosspipe.export.registry import FORMATS, export
from crosspipe.export.svg import Caption


def test_every_format_writes_text_files_that_end_in_a_newline() -> None:
    problem = pipeline()
    schedule = zb_h1(problem)
    assert list(FORMATS) == ["torch-csv", "torch-csv-sidecar", "svg", "chrome-trace"]
    for name, form in FORMATS.items():
        files = export(name, problem, schedule)
        assert form.name == name
        assert files
        assert all(file.text.endswith("\n") and file.suffix.startswith(".") for file in files)


def test_torch_csv_brings_its_sidecar() -> None:
    problem = pipeline()
    schedule = zb_h1(problem)
    csv, beside = export("torch-csv", problem, schedule)
    assert (csv.suffix, csv.media_type) == (".csv", "text/csv; charset=utf-8")
    assert json.loads(beside.text)["stage_to_rank"] == [0, 1, 2, 3]
    assert export("torch-csv-sidecar", problem, schedule) == (beside,)


def test_caption_reaches_the_picture() -> None:
    problem = pipeline()
    (picture,) = export("svg", problem, zb_h1(problem), Caption("My cluster"))
    assert "<title" in picture.text
    assert "My cluster" in picture.text


def test_unknown_format_lists_the_known_ones() -> None:
    problem = pipeline()
    with pytest.raises(
        ExportError, match=r"must be one of torch-csv, torch-csv-sidecar, svg, chrome-trace \(got 'pdf'\)"
    ):
        export("pdf", problem, zb_h1(problem))


def test_trace_holds_every_operation_at_its_time() -> None:
    problem = pipeline(
        links=[WAN],
        extra_operations=[{"name": "sum", "duration_ms": 3, "after": [0]}],
    )
    schedule = greedy(problem, cap=4)
    (file,) = export("chrome-trace", problem, schedule)
    events = [event for event in json.loads(file.text)["traceEvents"] if event["ph"] == "X"]
    assert [event["ts"] for event in events] == [start / 1000 for start in schedule.start_ns.tolist()]
    assert [event["ts"] + event["dur"] for event in events] == [end / 1000 for end in schedule.end_ns.tolist()]
    assert {(event["pid"], event["tid"]) for event in events} == {
        (0, 0),
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 0),
        (1, 1),
        (2, 0),
    }
    assert next(event for event in events if event["cat"] == "extra")["name"] == "extra operation sum"
