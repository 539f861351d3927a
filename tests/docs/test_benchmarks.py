"""The tables of the benchmarks: totals, rows, groups, ratios, and what is not measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import bench.__main__ as command
import pytest
from bench.suites import SUITES
from docs.generate import anytime, benchmarks
from docs.generate.benchmark_cells import milliseconds, percent
from docs.generate.pages import PARTS, ROOT

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]


def row(**given: Any) -> Row:
    """A stored row: proved in 0.5 s unless told otherwise."""
    usual = {
        "instance": "a",
        "contender": "crosspipe",
        "objective": "makespan",
        "limit_s": 60.0,
        "status": "optimal",
        "value_ns": 1_381_911_000,
        "bound_ns": 1_381_911_000,
        "value_from": "dive",
        "bound_from": "count states: all devices and lanes together",
        "failure": None,
        "runs": 3,
        "first_s": 0.0223,
        "one_percent_s": 0.104,
        "proof_s": 0.5,
        "total_s": 1.13,
        "peak_mb": 367.6,
        "verdicts": [["value", True, "1,382.7 beaten"], ["sound", True, "the proved optimum is 1,381.911"]],
    }
    return usual | given


UNPROVED: Row = {
    "status": "feasible",
    "value_ns": 2_000_000,
    "bound_ns": 1_990_000,
    "value_from": "greedy",
    "bound_from": "energy: site/0",
    "one_percent_s": 3.0,
    "proof_s": None,
    "runs": 1,
}
MISSED = [["peer", False, "heur 1.9 missed"]]


def store(folder: Path, suite: str, rows: dict[str, Row], of: int | None = None, cores: str = "2") -> None:
    machine = {"processor": "Some CPU", "cores": cores, "system": "Linux x86_64", "python": "3.11.7"}
    stored = {"machine": machine, "of": len(rows) if of is None else of, "rows": rows}
    (folder / f"{suite}.json").write_text(json.dumps(stored))


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ")]


def test_the_page_has_every_suite() -> None:
    assert list(SUITES) == list(benchmarks.SUITES)
    page = (ROOT / "docs/reference/benchmarks.md").read_text(encoding="utf-8")
    for suite in SUITES:
        assert f"\n## {suite}\n" in page
        assert f"<!-- generated: bench-{suite} -->" in page
        assert f"bench-{suite}" in PARTS


def test_files_lie_where_the_command_leaves_them() -> None:
    assert command.BASELINE == benchmarks.STORED
    assert command.CURVES == anytime.MEASURED


@pytest.mark.parametrize("suite", benchmarks.SUITES)
def test_what_is_not_measured_says_so(suite: str, tmp_path: Path) -> None:
    assert benchmarks.suite_part(suite, tmp_path) == "Not measured."
    assert benchmarks.machine_part(tmp_path) == "Not measured."
    store(tmp_path, suite, {})
    assert benchmarks.suite_part(suite, tmp_path) == "Not measured."


def test_totals_and_rows(tmp_path: Path) -> None:
    store(tmp_path, "readme", {"a": row(), "b": row(proof_s=2.5, runs=1), "c": row(**UNPROVED, verdicts=MISSED)}, of=6)
    text = benchmarks.suite_part("readme", tmp_path)
    said = " ".join(text.split())
    assert "**3 of 6 rows measured, 2 proved (1 within 2 s), median time to a proof 1.50 s**." in said
    assert "Largest gap 0.50 %. Held: value 2 of 2, sound 2 of 2, peer 0 of 1." in said
    assert "Values from dive 2, greedy 1. Bounds from count states 2, energy 1." in said
    assert "Time limit 60 s; rows run 3 times (medians): 1; rows run once: 2." in said
    rows = lines_of(text)[2:]
    assert rows[0] == "| a | 1,381.911 | 1,381.911 | 0 | 0.02 | 0.10 | 0.50 | 368 | value: 1,382.7 beaten |"
    assert rows[2] == "| c | 2 | 1.99 | 0.50 % | 0.02 | 3.00 |  | 368 | **not** peer: heur 1.9 missed |"


def test_rows_without_a_schedule(tmp_path: Path) -> None:
    nothing = {"value_ns": None, "bound_ns": None, "value_from": None, "bound_from": None, "first_s": None}
    refuted = row(status="infeasible", **nothing, one_percent_s=None, verdicts=[["refuted", True, "is infeasible"]])
    failed = row(
        status="failed", **nothing, one_percent_s=None, proof_s=None, peak_mb=None, verdicts=[["runs", False, "died"]]
    )
    store(tmp_path, "readme", {"a": refuted, "b": failed})
    text = benchmarks.suite_part("readme", tmp_path)
    assert "| a | infeasible | 0.50 | 368 | refuted: is infeasible |" in text
    assert "| b | failed |  |  | **not** runs: died |" in text
    assert "2 rows, 1 proved" in text


def test_nothing_proved(tmp_path: Path) -> None:
    store(tmp_path, "scale", {"a": row(**UNPROVED, limit_s=20.0), "b": row(**UNPROVED)})
    text = benchmarks.suite_part("scale", tmp_path)
    assert "**2 rows, 0 proved (0 within 2 s)**." in text
    assert "Time limit 20 to 60 s; rows run once: 2." in text


def test_suites_of_many_rows_are_summed_up_by_group_and_show_what_is_missed(tmp_path: Path) -> None:
    held = [["peer", True, "heur 1,400 beaten"]]
    rows = {
        "p4 m8 c100 1x unidirectional makespan": row(verdicts=held),
        "p4 m8 c100 1x wave span": row(objective="span", verdicts=held),
        "p4 m12 11-12-13 c100 1x unidirectional makespan": row(**UNPROVED, verdicts=MISSED),
        "p4 m16 c100 1x unidirectional makespan": row(proof_s=1.5, verdicts=held),
    }
    store(tmp_path, "peers", rows)
    text = benchmarks.suite_part("peers", tmp_path)
    table = lines_of(text)
    assert table[2] == "| p4 unidirectional makespan | 3 | 2 | peer **2 of 3** | 0.50 % | 0.02 | 1.00 |"
    assert table[3] == "| p4 wave span | 1 | 1 | peer 1 | 0 | 0.02 | 0.50 |"
    assert "Rows that miss something:" in text
    assert [line.split(" | ")[0] for line in table[6:]] == ["| p4 m12 11-12-13 c100 1x unidirectional makespan"]


def test_cases_are_grouped_by_what_they_are_about(tmp_path: Path) -> None:
    store(tmp_path, "golden", {"loop-01": row(), "loop-02": row(), "span-01": row(objective="span")})
    text = benchmarks.suite_part("golden", tmp_path)
    assert [line.split(" | ")[:2] for line in lines_of(text)[2:]] == [["| loop makespan", "2"], ["| span span", "1"]]
    assert "No row misses anything." in text


def test_ratios(tmp_path: Path) -> None:
    rival = {"contender": "milp", "runs": 1}
    rows = {
        "a": row(),
        "a @ milp": row(**rival, to_value=[5.0, 0.1, 50.0, False], to_proof=[30.0, 0.5, 60.0, False]),
        "b": row(instance="b"),
        "b @ milp": row(
            **{**UNPROVED, **rival, "instance": "b", "value_ns": 1_400_000_000, "bound_ns": None},
            to_value=[0.2, 0.1, 2.0, False],
            to_proof=[None, 0.5, 120.0, True],
        ),
        "c @ milp": row(**{**rival, "instance": "c"}),
    }
    store(tmp_path, "versus", rows)
    text = benchmarks.suite_part("versus", tmp_path)
    table = lines_of(text)
    assert table[2] == "| milp | 2 | 1 | 26 | 1 / 2 | over 90 |"
    assert table[5] == "| a | milp | 1,381.911 | 1,381.911 | 1,381.911 | 5.00 / 0.10 | 50 | 30.00 / 0.50 | 60 |"
    assert table[6] == "| b | milp | 1,400 |  | 1,381.911 | 0.20 / 0.10 | 2.00 | not / 0.50 | over 120 |"


def test_ratios_need_both(tmp_path: Path) -> None:
    store(tmp_path, "versus", {"a @ milp": row(contender="milp")})
    assert benchmarks.suite_part("versus", tmp_path) == "Time limit 60 s; rows run 3 times (medians): 1."


def test_machines(tmp_path: Path) -> None:
    store(tmp_path, "readme", {"a": row()})
    store(tmp_path, "scale", {"a": row()})
    assert benchmarks.machine_part(tmp_path) == "Measured on Some CPU, 2 cores, Linux x86_64; python 3.11.7."
    store(tmp_path, "versus", {"a": row()}, cores="4")
    assert benchmarks.machine_part(tmp_path).splitlines() == [
        "readme, scale: measured on Some CPU, 2 cores, Linux x86_64; python 3.11.7.",
        "",
        "versus: measured on Some CPU, 4 cores, Linux x86_64; python 3.11.7.",
    ]


def test_cells() -> None:
    assert [milliseconds(ns) for ns in (1_381_911_000, 2_000_000, 120_000_000, 5_499)] == [
        "1,381.911",
        "2",
        "120",
        "0.005",
    ]
    assert [percent(gap) for gap in (0.0, 0.00001, 0.0041)] == ["0", "< 0.01 %", "0.41 %"]


def test_open_cuts_show_what_was_chosen_and_gained(tmp_path: Path) -> None:
    rules = {
        "even by time": {"value_ms": 1500.0, "gain": 0.0787, "reason": None},
        "torchtitan: layers alike": {"value_ms": None, "gain": None, "reason": "memory: a/0"},
        "Megatron: layers alike": {"value_ms": None, "gain": None, "reason": "5 layers are no multiple of 2 stages"},
        "Megatron: embedding and head": {"value_ms": 2000.0, "gain": 0.309, "reason": None},
    }
    cut = {
        "layers_per_stage": [3, 2, 1],
        "devices": ["a/0", "a/1", "b/0"],
        "recompute": ["none", "selective", "full"],
        "considered": 7,
        "bottleneck_ms": 1200.5,
        "peak_share": 0.975,
        "rules": rules,
    }
    nothing = {"value_ns": None, "bound_ns": None, "value_from": None, "bound_from": None, "first_s": None}
    store(tmp_path, "assignment", {"a": row(cut=cut), "b": row(status="unknown", **nothing, proof_s=None)})
    table = lines_of(benchmarks.suite_part("assignment", tmp_path))
    assert table[2] == (
        "| a | 1,381.911 | 1,381.911 | 0 | 1,200.5 | 97.5 % | 7.87 % | no schedule | 30.90 % | 0.02 | 1.13 |"
    )
    assert table[3].startswith("| b | unknown |")
    assert table[-1] == "| a | 7 | a: 3 2s, b: 1f |"
