from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.solving import assert_sound
from tests.unit.cli.running import HARD, SMALL, TOO_SMALL, answer_of, call

from crosspipe.answer.models import Answer
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SMALL)
    return path


def test_the_text_is_a_page_of_at_most_25_lines(spec: Path) -> None:
    result = call("solve", spec, "--time-limit", 0)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith(("OPTIMAL ", "FEASIBLE "))
    assert 10 <= len(lines) <= 25
    assert result.stderr == ""


def test_json_stands_alone_on_stdout(spec: Path) -> None:
    result = call("solve", spec, "--time-limit", 0, "--format", "json")
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 1
    answer = Answer.model_validate_json(result.stdout)
    assert_sound(SMALL, answer)
    assert result.stderr == ""


@pytest.mark.parametrize("detail", ["summary", "orders", "full"])
def test_json_holds_as_much_as_is_asked_for(spec: Path, detail: str) -> None:
    answer = answer_of(call("solve", spec, "-t", 0, "--format", "json", "--detail", detail))
    device = answer["devices"][0]
    assert (device["operations"] is None) == (detail == "summary")
    assert (device["memory_curve"] is None) == (detail != "full")


def test_every_option_arrives(spec: Path) -> None:
    options = ("--objective", "span", "--gap", 0.5, "--seed", 5, "--workers", 2, "--deterministic", "--format", "json")
    answer = answer_of(call("solve", spec, "-t", 0.25, *options))
    told = answer["provenance"]
    assert (told["seed"], told["workers"], told["deterministic"], told["time_limit_s"]) == (5, 2, True, 0.25)
    assert answer["objective"]["name"] == "span"
    assert answer["stop_reason"] in ("gap", "proved")


def test_a_proof_is_an_answer_too(spec: Path) -> None:
    result = call("solve", spec, "-t", 60)
    assert result.exit_code == 0
    assert result.stdout.startswith("OPTIMAL ")


def test_a_spec_from_stdin_and_an_answer_into_a_file(tmp_path: Path) -> None:
    out = tmp_path / "answer.json"
    result = call("solve", "-", "-t", 0, "--format", "json", "--out", out, stdin=SMALL)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert Answer.model_validate_json(out.read_text()).devices


def test_a_json_spec_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(parse_spec(SMALL).model_dump(mode="json", exclude_unset=True)))
    assert call("solve", path, "-t", 0).exit_code == 0


def test_exit_code_3_where_no_schedule_exists(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(TOO_SMALL)
    result = call("solve", path, "-t", 0)
    assert result.exit_code == 3
    assert result.stdout.startswith("INFEASIBLE: no schedule exists\n- memory of ")
    assert "50 MB" in result.stdout
    json_result = call("solve", path, "-t", 0, "--format", "json")
    assert json_result.exit_code == 3
    assert answer_of(json_result)["status"] == "infeasible"


def test_exit_code_4_where_none_was_found(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solved = Answer.model_validate_json(call("solve", spec, "-t", 0, "--format", "json").stdout)
    unknown = solved.model_copy(
        update={
            "status": "unknown",
            "stop_reason": "time_limit",
            "objective": solved.objective.model_copy(update={"value_ms": None, "gap": None}),
            "devices": [],
        }
    )
    monkeypatch.setattr("crosspipe.cli.solve.solve", lambda *_, **__: unknown)
    assert call("solve", spec).exit_code == 4


def test_exit_code_130_where_it_was_stopped(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solved = Answer.model_validate_json(call("solve", spec, "-t", 0, "--format", "json").stdout)
    stopped = solved.model_copy(update={"status": "feasible", "stop_reason": "stopped"})
    monkeypatch.setattr("crosspipe.cli.solve.solve", lambda *_, **__: stopped)
    result = call("solve", spec)
    assert result.exit_code == 130
    assert "stopped" in result.stdout


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("-t", "-1"), "/time_limit_s"),
        (("-t", "nan"), "/time_limit_s"),
        (("-t", "inf"), "/time_limit_s"),
        (("--gap", "2"), "/relative_gap"),
        (("--seed", "-1"), "/seed"),
        (("--workers", "0"), "/workers"),
        (("--objective", "latency"), "/objective"),
    ],
)
def test_an_option_out_of_range_is_named(spec: Path, options: tuple[str, ...], word: str) -> None:
    result = call("solve", spec, *options)
    assert result.exit_code == 2
    first, second = result.stderr.splitlines()
    assert first == "error [invalid_option]"
    assert word in second
    assert "nearest legal" in second
    assert result.stdout == ""


@pytest.mark.parametrize(
    "options", [("-t", "soon"), ("--seed", "1.5"), ("--format", "xml"), ("--detail", "all"), ("--nonsense",), ()]
)
def test_what_is_no_option_is_refused_with_usage(spec: Path, options: tuple[str, ...]) -> None:
    arguments = ("solve", spec, *options) if options else ("solve",)
    result = call(*arguments)
    assert result.exit_code == 2
    assert "Usage" in result.stderr
    assert result.stdout == ""


def test_hard_specs_are_hard() -> None:
    """What the tests of Ctrl-C rest on: the search is still at work when they press it."""
    assert answer_of(call("solve", "-", "-t", 0, "--format", "json", stdin=HARD))["objective"]["gap"] > 0.02
