"""`crosspipe plan`: text or JSON, exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.cli.running import SMALL, TOO_SMALL, call

import crosspipe.cli.plan as command
from crosspipe.plans.models import Plan
from crosspipe.plans.run import plan

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SMALL)
    return path


def test_text_for_people(spec: Path) -> None:
    result = call("plan", spec, "-t", 0)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert len(lines) <= 25
    assert any(line.startswith(("Yes: ", "No: ")) for line in lines)


def test_json_stands_alone_on_stdout(spec: Path, tmp_path: Path) -> None:
    result = call("plan", spec, "-t", 0, "--format", "json")
    assert result.stdout.count("\n") == 1
    found = Plan.model_validate_json(result.stdout)
    assert found.best is not None
    out = tmp_path / "plan.json"
    assert call("plan", spec, "-t", 0, "--format", "json", "-o", out).stdout == ""
    assert Plan.model_validate_json(out.read_text()).best == found.best


def test_every_option_arrives(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def noting(parsed: Any, **options: Any) -> Plan:
        seen.update(options)
        return plan(parsed, time_limit_s=0, workers=1)

    monkeypatch.setattr(command, "plan", noting)
    assert call("plan", spec, "-t", 0.25, "--seed", 5, "--workers", 2).exit_code == 0
    assert (seen["time_limit_s"], seen["seed"], seen["workers"]) == (0.25, 5, 2)


def test_exit_codes(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(TOO_SMALL)
    assert call("plan", path, "-t", 0).exit_code == 3
    path.write_text("model: 3")
    assert call("plan", path, "-t", 0).exit_code == 2
