from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.cli.running import SMALL, answer_of, call

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def answer(spec: Path) -> dict[str, Any]:
    return answer_of(call("solve", spec, "-t", 0, "--format", "json"))


def judged(spec: Path, answer: dict[str, Any], *options: str) -> Any:
    path = spec.with_name("answer.json")
    path.write_text(json.dumps(answer))
    return call("check", spec, path, *options)


def test_a_right_schedule_is_told_with_its_values(spec: Path, answer: dict[str, Any]) -> None:
    result = judged(spec, answer)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"OK: keeps every rule; makespan {answer['makespan_ms']:,.1f} ms, span ")
    found = answer_of(judged(spec, answer, "--format", "json"))
    assert found["ok"] is True
    assert found["makespan_ms"] == answer["makespan_ms"]
    assert found["violations"] == []


def test_a_schedule_from_stdin_is_judged_too(spec: Path, answer: dict[str, Any]) -> None:
    assert call("check", spec, "-", stdin=json.dumps(answer)).exit_code == 0


def test_a_wrong_schedule_is_told_with_its_breaches(spec: Path, answer: dict[str, Any]) -> None:
    operations = answer["devices"][3]["operations"]
    operations["start_ms"][0] -= 1
    operations["end_ms"][0] -= 1
    result = judged(spec, answer)
    assert result.exit_code == 1
    first, *breaches = result.stdout.splitlines()
    assert first == f"BROKEN: {len(breaches)} violation" + ("s" if len(breaches) > 1 else "")
    assert breaches
    assert all(line.startswith("- ") for line in breaches)
    found = answer_of(judged(spec, answer, "--format", "json"))
    assert found["ok"] is False
    assert len(found["violations"]) == len(breaches)


def test_a_wholly_wrong_schedule_is_told_in_short(spec: Path, answer: dict[str, Any]) -> None:
    for device in answer["devices"]:
        count = len(device["operations"]["kind"])
        device["operations"] |= {"start_ms": [0.0] * count, "end_ms": [1.0] * count}
    result = judged(spec, answer)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 22
    assert result.stdout.splitlines()[-1].endswith("more (--format json lists them all)")


def test_a_schedule_that_lacks_operations_is_incomplete(spec: Path) -> None:
    path = spec.with_name("rows.json")
    path.write_text('{"operations": [["F", 0, 0, 0, 0]]}')
    result = call("check", spec, path, "--format", "json")
    assert result.exit_code == 1
    found = answer_of(result)
    assert found["makespan_ms"] is None
    assert {violation["kind"] for violation in found["violations"]} == {"missing"}
