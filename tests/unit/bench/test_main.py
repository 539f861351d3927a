"""The command: rows chosen, run once, resumed, written as tables, compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import bench.__main__ as command
import pytest
from bench.history import State
from bench.measurement import Measurement

if TYPE_CHECKING:
    from pathlib import Path

    from bench.row import Row


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Rows measured so far; each takes no time and comes to its reference."""
    done: list[str] = []

    def measure(row: Row) -> Measurement:
        done.append(row.key)
        known = row.reference
        return Measurement(known.status or "feasible", known.value_ns, known.bound_ns, 0.1, 0.1, 0.2, 0.3, 40.0)

    monkeypatch.setattr(command, "measure", measure)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(command, "BASELINE", tmp_path / "baseline")
    monkeypatch.setattr(command, "CURVES", tmp_path / "images" / "anytime.json")
    return done


def test_a_second_run_measures_nothing_again(measured: list[str], tmp_path: Path) -> None:
    words = ["--suite", "golden", "--only", "loop"]
    assert command.main(words) == 0
    assert len(measured) == len(set(measured)) == 6
    assert command.main(words) == 0
    assert len(measured) == 6
    assert command.main([*words, "--fresh"]) == 0
    assert len(measured) == 12
    table = (tmp_path / "results" / "golden.md").read_text()
    assert "6 rows, 6 proved" in table
    assert table in (tmp_path / "results" / "table.md").read_text()
    assert len(json.loads((tmp_path / "results" / "golden.json").read_text())["rows"]) == 6


def test_an_interrupted_run_goes_on_where_it_stopped(
    measured: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = command.measure

    def interrupted(row: Row) -> Measurement:
        if len(measured) == 2:
            raise KeyboardInterrupt
        return inner(row)

    words = ["--suite", "golden", "--only", "loop"]
    monkeypatch.setattr(command, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        command.main(words)
    monkeypatch.setattr(command, "measure", inner)
    assert command.main(words) == 0
    assert len(measured) == len(set(measured)) == 6
    assert "[3/6] golden: " in capsys.readouterr().out


def test_short_rows_run_several_times(measured: list[str]) -> None:
    assert command.main(["--suite", "golden", "--only", "loop-01", "--runs", "3"]) == 0
    assert measured == ["loop-01"] * 3


def test_a_limit_for_all_and_the_short_run(measured: list[str]) -> None:
    rows = command.rows_of("scale", command.arguments(["--limit-s", "3"]))
    assert {row.limit_s for row in rows} == {3.0}
    quick = command.rows_of("bench58", command.arguments(["--quick"]))
    assert {row.limit_s for row in quick} == {command.QUICK_LIMIT_S}
    assert len(quick) == 4
    assert measured == []


def test_stored_rows_are_compared_with(measured: list[str], tmp_path: Path) -> None:
    words = ["--suite", "golden", "--only", "loop"]
    assert command.main([*words, "--keep"]) == 0
    stored = json.loads((tmp_path / "baseline" / "golden.json").read_text())
    assert len(stored["rows"]) == len(measured) == 6
    assert command.main([*words, "--only", "loop-01", "--keep"]) == 0
    assert json.loads((tmp_path / "baseline" / "golden.json").read_text()) == stored
    assert "| proof 1.00 x the time |" in (tmp_path / "results" / "golden.md").read_text()


def test_tables_of_nothing_store_nothing(measured: list[str], tmp_path: Path) -> None:
    assert command.main(["--suite", "golden", "--only", "loop-01", "--tables", "--keep"]) == 0
    assert not (tmp_path / "baseline").exists()
    assert measured == []


def test_histories_of_rows_with_a_curve_are_kept(
    measured: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    inner = command.measure
    states = [State(0.5, 2_000, 1_000, "1F1B")]
    monkeypatch.setattr(command, "measure", lambda row: inner(row).with_history(states))
    assert command.main(["--suite", "readme", "--only", "32gb", "--keep"]) == 0
    curves = json.loads((tmp_path / "images" / "anytime.json").read_text())
    assert [curve["key"] for curve in curves] == ["two-sites-1.5b-32gb"]
    assert len(measured) == 2


def test_a_failed_row_is_shown_and_sets_the_exit_code(
    measured: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "measure", lambda _: Measurement.failed("out of memory"))
    assert command.main(["--suite", "golden", "--only", "loop-01"]) == 1
    assert "NOT runs: out of memory" in capsys.readouterr().out
    assert measured == []


def test_a_failed_row_is_measured_again(measured: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["--suite", "golden", "--only", "loop-01"]
    inner = command.measure
    monkeypatch.setattr(command, "measure", lambda _: Measurement.failed("out of memory"))
    assert command.main(words) == 1
    assert command.main([*words, "--tables"]) == 1
    monkeypatch.setattr(command, "measure", inner)
    assert command.main(words) == 0
    assert measured == ["loop-01"]


def test_list_measures_nothing(measured: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--suite", "versus", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 81
    assert measured == []


def test_tables_of_what_is_there(measured: list[str], tmp_path: Path) -> None:
    assert command.main(["--suite", "golden", "--only", "loop-01"]) == 0
    assert command.main(["--suite", "golden", "--only", "loop", "--tables"]) == 0
    assert measured == ["loop-01"]
    assert "1 rows" in (tmp_path / "results" / "golden.md").read_text()
