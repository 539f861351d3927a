"""`crosspipe explain`: of an answer or of a spec, text or JSON, exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.running import SMALL, TOO_SMALL, call

from crosspipe.accounts.models import Account

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SMALL)
    return path


def test_an_answer_is_explained_and_so_is_a_spec_alone(spec: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    assert call("solve", spec, "-t", 0, "--format", "json", "-o", answer).exit_code == 0
    told = call("explain", spec, answer)
    assert told.exit_code == 0
    assert told.stdout.splitlines()[1].startswith("path ")
    assert len(told.stdout.splitlines()) <= 25
    assert call("explain", spec, "-t", 0).stdout.splitlines()[0] == told.stdout.splitlines()[0]


def test_json_stands_alone(spec: Path, tmp_path: Path) -> None:
    result = call("explain", spec, "-t", 0, "--format", "json")
    found = Account.model_validate_json(result.stdout)
    assert found.makespan_ms is not None
    out = tmp_path / "account.json"
    assert call("explain", spec, "-t", 0, "--format", "json", "--objective", "span", "-o", out).stdout == ""
    assert Account.model_validate_json(out.read_text()).objective == "span"


def test_exit_codes(spec: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.yaml"
    small.write_text(TOO_SMALL)
    result = call("explain", small, "-t", 0)
    assert result.exit_code == 3
    assert result.stdout.startswith("INFEASIBLE")
    wrong = tmp_path / "wrong.json"
    for text in ("[]", "{", '{"devices": []}'):
        wrong.write_text(text)
        assert call("explain", spec, wrong).exit_code == 2
    wrong.write_text('{"status": "unknown"}')
    assert call("explain", spec, wrong).exit_code == 4
