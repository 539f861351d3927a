"""`crosspipe verify` and `crosspipe bound`: what they print, and how they end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.building import spec_data
from typer.testing import CliRunner

from crosspipe.cli.main import app

if TYPE_CHECKING:
    from pathlib import Path

SPEC = spec_data(2, 4)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(SPEC))
    return str(path)


@pytest.fixture
def answer(spec: str, tmp_path: Path) -> Path:
    path = tmp_path / "answer.json"
    code, text = run("solve", spec, "-t", "0", "--format", "json")
    assert code == 0
    path.write_text(text)
    return path


def test_an_answer_is_verified(spec: str, answer: Path) -> None:
    code, text = run("verify", spec, str(answer))
    assert code == 0
    assert text.startswith("VERIFIED (optimal): no schedule can beat")
    assert "keeps every rule" in text


def test_a_forged_answer_is_refused(spec: str, answer: Path) -> None:
    document = json.loads(answer.read_text())
    document["certificate"]["data"]["bound_ns"] += 1
    answer.write_text(json.dumps(document))
    code, text = run("verify", spec, str(answer))
    assert code == 1
    assert text.startswith("REFUSED: ")
    code, text = run("verify", spec, str(answer), "--format", "json")
    assert code == 1
    assert json.loads(text)["outcome"] == "refused"


def test_what_is_not_json_is_bad_input(spec: str, tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_text("{")
    assert run("verify", spec, str(path))[0] == 2
    assert run("verify", spec, str(tmp_path / "nothing"))[0] == 2


def test_effort_is_limited(spec: str, answer: Path) -> None:
    code, text = run("verify", spec, str(answer), "--effort", "0")
    assert code == 1
    assert "more work" in text


def test_a_bound_is_told_and_verified(spec: str, tmp_path: Path) -> None:
    code, text = run("bound", spec, "-t", "0")
    assert code == 0
    assert text.startswith("no schedule can beat 13.0 ms (unidirectional: device load, a/1)")
    code, text = run("bound", spec, "-t", "0", "--format", "json", "--objective", "span")
    assert json.loads(text)["objective"] == "span"
    path = tmp_path / "bound.json"
    path.write_text(text)
    code, text = run("verify", spec, str(path))
    assert code == 0
    assert text.startswith("VERIFIED: no schedule can beat")


def test_no_schedule_ends_with_its_own_code(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec_data(2, 4, sites={"a": {"devices": 2, "memory_gb": 0.0001}})))
    code, text = run("bound", str(path))
    assert code == 3
    assert text.startswith("INFEASIBLE: ")


def test_a_bad_spec_or_objective_is_bad_input(spec: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text("{}")
    assert run("bound", str(path))[0] == 2
    assert run("bound", spec, "--objective", "latency")[0] == 2
