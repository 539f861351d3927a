from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.running import SMALL, TOO_SMALL, call

from crosspipe.export.registry import FORMATS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SMALL)
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_to_stdout(spec: Path, name: str) -> None:
    result = call("export", spec, "--format", name, "-t", 0)
    assert result.exit_code == 0
    assert result.stdout.endswith("\n")


def test_a_picture_in_a_file(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "picture.svg"
    assert call("export", spec, "--format", "svg", "-t", 0, "--out", out).exit_code == 0
    assert ET.parse(out).getroot().tag.endswith("svg")  # noqa: S314  # our own text


def test_the_torch_csv_has_its_map_beside_it(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "schedule.csv"
    assert call("export", spec, "--format", "torch-csv", "-t", 0, "--out", out).exit_code == 0
    with out.open() as file:
        assert len(list(csv.reader(file))) == 4
    beside = json.loads((tmp_path / "schedule.torch.json").read_text())
    assert "east" in json.dumps(beside)
    to_stdout = call("export", spec, "--format", "torch-csv", "-t", 0)
    assert to_stdout.stdout == out.read_text()
    assert json.loads(to_stdout.stderr) == beside


def test_an_answer_is_exported_without_solving_again(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = tmp_path / "answer.json"
    assert call("solve", spec, "-t", 0, "--format", "json", "--out", answer).exit_code == 0
    solved = call("export", spec, "--format", "torch-csv", "-t", 0).stdout
    monkeypatch.setattr("crosspipe.cli.export.solve", lambda *_, **__: pytest.fail("solved again"))
    assert call("export", spec, "--format", "torch-csv", "--schedule", answer).stdout == solved


def test_a_broken_answer_is_not_exported(spec: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    call("solve", spec, "-t", 0, "--format", "json", "--out", answer)
    document = json.loads(answer.read_text())
    document["devices"][0]["operations"]["start_ms"][0] += 50
    document["devices"][0]["operations"]["end_ms"][0] += 50
    answer.write_text(json.dumps(document))
    result = call("export", spec, "--format", "svg", "--schedule", answer)
    assert result.exit_code == 2
    assert result.stderr.startswith("error [schedule_breaks_rules]")
    assert result.stdout == ""


def test_an_unknown_format_is_refused_before_any_work(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crosspipe.cli.export.solve", lambda *_, **__: pytest.fail("solved for nothing"))
    result = call("export", spec, "--format", "nonsense")
    assert result.exit_code == 2
    assert "torch-csv" in result.stderr


def test_no_schedule_is_said_and_nothing_written(tmp_path: Path) -> None:
    out = tmp_path / "picture.svg"
    result = call("export", "-", "--format", "svg", "-t", 0, "--out", out, stdin=TOO_SMALL)
    assert result.exit_code == 3
    assert "INFEASIBLE" in result.stderr
    assert not out.exists()
