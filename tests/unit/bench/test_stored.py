"""The stored table: what is kept of a row, which rows stay, in which order."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from bench.history import State
from bench.measurement import Measurement, with_times
from bench.row import Goal, Reference, Row
from bench.stored import keep, stored_rows

if TYPE_CHECKING:
    from pathlib import Path

FIRST = Row("suite", "first", {}, "makespan", 10.0, reference=Reference(value_ns=7), goal=Goal(proof_s=1.0))
SECOND = replace(FIRST, name="second", objective="span")
RIVAL = replace(FIRST, contender="milp")
SUITE = [FIRST, RIVAL, SECOND]
MEASURED = with_times(
    Measurement("optimal", 7, 7, total_s=2.0, peak_mb=50.123456, value_from="dive", bound_from="energy", runs=3)
).with_history([State(0.123456789, 9, 5, "1F1B"), State(2.0, 7, 7, "dive")])
SLOW = Measurement("feasible", 9, 5, first_s=4.0, total_s=10.0).with_history([State(4.0, 9, 5, "milp")])


def test_what_is_kept_of_a_row(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "suite.json"
    keep(path, SUITE, [(FIRST, with_times(MEASURED))])
    assert stored_rows(path) == {
        "first": {
            "instance": "first",
            "contender": "crosspipe",
            "objective": "makespan",
            "limit_s": 10.0,
            "status": "optimal",
            "value_ns": 7,
            "bound_ns": 7,
            "value_from": "dive",
            "bound_from": "energy",
            "failure": None,
            "runs": 3,
            "first_s": 0.1235,
            "one_percent_s": 2.0,
            "proof_s": 2.0,
            "total_s": 2.0,
            "peak_mb": 50.1235,
            "verdicts": [["value", True, "0.000007 reached"], ["proof", False, "2.00 of 1 s"]],
        }
    }


def test_the_machine_and_the_size_of_the_suite_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    keep(path, SUITE, [(FIRST, MEASURED)])
    stored = json.loads(path.read_text())
    assert stored["of"] == 3
    assert {"processor", "cores", "system", "python", "crosspipe"} <= stored["machine"].keys()
    assert "load" not in stored["machine"]


def test_rows_stay_until_they_are_measured_again_in_the_order_of_the_suite(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    keep(path, SUITE, [(SECOND, MEASURED)])
    keep(path, SUITE, [(FIRST, MEASURED)])
    assert list(stored_rows(path)) == ["first", "second"]
    keep(path, SUITE, [(SECOND, SLOW)])
    assert [row["value_ns"] for row in stored_rows(path).values()] == [7, 9]
    assert stored_rows(path)["second"]["proof_s"] is None


def test_a_row_that_the_suite_no_longer_has_goes(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    keep(path, SUITE, [(FIRST, MEASURED), (SECOND, MEASURED)])
    keep(path, [SECOND], [(SECOND, MEASURED)])
    assert list(stored_rows(path)) == ["second"]


def test_ratios_are_kept_with_the_contender(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    keep(path, SUITE, [(FIRST, with_times(MEASURED)), (RIVAL, SLOW)])
    rows = stored_rows(path)
    assert rows["first @ milp"]["to_value"] == [4.0, 0.1235, 32.4, False]
    assert rows["first @ milp"]["to_proof"] == [None, 2.0, 5.0, True]
    assert "to_value" not in rows["first"]


def test_nothing_is_stored_at_first(tmp_path: Path) -> None:
    assert stored_rows(tmp_path / "suite.json") == {}
