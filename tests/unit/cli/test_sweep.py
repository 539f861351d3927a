"""`crosspipe sweep`: every option arrives, a table or JSON, a chart, errors before anything is solved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.cli.running import SMALL, call

import crosspipe.cli.sweep as command
from crosspipe.cli.sweep_line import line_of
from crosspipe.sweeps.models import Sweep
from crosspipe.sweeps.progress import SweepProgress
from crosspipe.sweeps.run import sweep

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SMALL)
    return path


def test_a_table_for_people(spec: Path) -> None:
    result = call("sweep", spec, "--memory-gb", "0.3,0.5", "--latency-ms", "0:8:4", "-t", 0)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "sweep: makespan in ms at 6 points"
    assert lines[1].split() == ["0", "ms", "4", "ms", "8", "ms"]
    assert [line.split("  ")[0] for line in lines[2:4]] == ["0.3 GB", "0.5 GB"]
    assert len(lines) <= 25
    assert result.stderr == ""


@pytest.mark.parametrize(("options", "held"), [((), False), (("--detail", "orders"), True)])
def test_json_stands_alone_on_stdout(spec: Path, options: tuple[str, ...], held: bool) -> None:
    result = call("sweep", spec, "--memory", "1x:2x:1x", "-t", 0, "--format", "json", *options)
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 1
    found = Sweep.model_validate_json(result.stdout)
    assert [point.at for point in found.points] == [{"memory": 1}, {"memory": 2}]
    for point in found.points:
        assert point.answer is not None
        assert all((device.operations is not None) == held for device in point.answer.devices)
        assert all((lane.operations is not None) == held for lane in point.answer.transfers)


def test_every_option_arrives(spec: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: dict[str, Any] = {}

    def noting(parsed: Any, axes: Any, **options: Any) -> Sweep:
        seen.update(options, axes=axes)
        return sweep(parsed, {"latency_ms": [1]}, time_limit_s=0)

    monkeypatch.setattr(command, "sweep", noting)
    out = tmp_path / "points.jsonl"
    axes = ("--memory-gb", "east=0.3", "--memory-gb", "west=0.2,0.4", "--latency-ms", "1", "--bandwidth-gbps", "5:10:5")
    axes += ("--latency", "west-east=2x", "--bandwidth", "west-east=0.5x,1x")
    counts = ("--microbatches", "3,4", "--in-flight", "2", "--traversal", "loop, wave")
    search = ("-t", 0.25, "--objective", "span", "--gap", 0.5, "--seed", 5, "--workers", 2, "--deterministic")
    assert call("sweep", spec, *axes, *counts, *search, "--tolerance", 0.02, "--out", out).exit_code == 0
    assert {name: [str(value) for value in values] for name, values in seen["axes"].items()} == {
        "memory_gb:east": ["0.3"],
        "memory_gb:west": ["0.2", "0.4"],
        "latency_ms": ["1"],
        "bandwidth_gbps": ["5", "10"],
        "latency:west-east": ["2"],
        "bandwidth:west-east": ["0.5", "1"],
        "microbatches": ["3", "4"],
        "in_flight": ["2"],
        "traversal": ["loop", "wave"],
    }
    assert (seen["time_limit_s"], seen["objective"], seen["relative_gap"]) == (0.25, "span", 0.5)
    assert (seen["seed"], seen["workers"], seen["deterministic"]) == (5, 2, True)
    assert (seen["tolerance"], seen["out"]) == (0.02, out)


def test_a_chart_and_a_file_of_points(spec: Path, tmp_path: Path) -> None:
    out, chart = tmp_path / "points.jsonl", tmp_path / "chart.svg"
    options = ("--latency-ms", "0,4", "-t", 0, "--out", out, "--chart", chart)
    first = call("sweep", spec, *options)
    assert chart.read_text().startswith("<svg ")
    assert len([json.loads(line) for line in out.read_text().splitlines()]) == 2
    assert call("sweep", spec, *options).stdout == first.stdout


def test_a_point_without_a_schedule_is_no_error(spec: Path) -> None:
    result = call("sweep", spec, "--memory-gb", "0.05,0.3", "-t", 0)
    assert result.exit_code == 0
    assert "none" in result.stdout
    assert "no schedule: memory of east/0" in result.stdout


@pytest.mark.parametrize("out", [True, False])
def test_exit_code_130_where_it_was_stopped(
    spec: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, out: bool
) -> None:
    def stopped(parsed: Any, axes: Any, **_: Any) -> Sweep:
        return sweep(parsed, axes, time_limit_s=0).model_copy(update={"complete": False})

    monkeypatch.setattr(command, "sweep", stopped)
    kept = ("--out", tmp_path / "points.jsonl") if out else ()
    result = call("sweep", spec, "--latency-ms", "0", *kept)
    assert result.exit_code == 130
    assert "stopped after 1 point" in result.stderr
    assert ("the same command goes on from there" if out else "give --out FILE to keep them") in result.stderr


@pytest.mark.parametrize(
    ("options", "code", "word"),
    [
        ((), "invalid_option", "must be given once at least"),
        (("--memory-gb", "much"), "invalid_option", "/memory_gb"),
        (("--memory-gb", "1", "--memory-gb", "2"), "invalid_option", "once for each place"),
        (("--memory-gb", "1", "--memory", "1x"), "invalid_option", "must not stand beside"),
        (("--memory-gb", "north=1"), "invalid_option", "must name one of east, west"),
        (("--latency-ms", "0:1"), "invalid_option", "first:last:step"),
        (("--microbatches", "2.5"), "invalid_option", "whole numbers"),
        (("--microbatches", "0,2"), "invalid_spec", "(at microbatches 0)"),
        (("--traversal", "round"), "invalid_spec", "(at traversal round)"),
        (("--latency-ms", "0", "-t", "-1"), "invalid_option", "/time_limit_s"),
        (("--latency-ms", "0", "--tolerance", "7"), "invalid_option", "/tolerance"),
        (("--latency-ms", "0", "--out", "/nowhere/points.jsonl"), "cannot_open", "/nowhere/points.jsonl"),
    ],
)
def test_a_wrong_option_is_named(spec: Path, options: tuple[str, ...], code: str, word: str) -> None:
    result = call("sweep", spec, *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    first, *rest = result.stderr.splitlines()
    assert first == f"error [{code}]"
    assert word in "\n".join(rest)


def test_a_foreign_file_is_named(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    out.write_text("memory,value\n")
    result = call("sweep", spec, "--latency-ms", "0", "--out", out)
    assert result.exit_code == 2
    assert result.stderr.startswith("error [invalid_sweep_file]\n")
    assert "line 1" in result.stderr


@pytest.mark.parametrize(
    ("left_s", "told"),
    [(None, "%"), (5.4, "   5 s left"), (125.0, "   2 min 5 s left"), (7300.0, "   2 h 1 min left")],
)
def test_the_live_line(left_s: float | None, told: str) -> None:
    line = line_of(SweepProgress(3, 8, "32 GB, 15 ms", 1400.0, 1386.0, 0.01, left_s, done=False))
    assert line.startswith("━━━━────")
    assert "point 3 of 8: 32 GB, 15 ms   best 1,400.0 ms   gap 1.00 %" in line
    assert line.endswith(told)
