"""Histories kept for the picture: of which rows, until when, beside those kept before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from bench.curves import SHOWN, keep_curves
from bench.history import State
from bench.measurement import Measurement
from bench.row import Row
from bench.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


CLOSED = [State(0.25, None, 5, "energy"), State(0.51234, 9, 5, "1F1B"), State(3.0, 7, 7, "dive")]
OPEN = [State(0.25, 9, 5, "1F1B")]


def row_of(number: int) -> Row:
    suite, key = SHOWN[number]
    return Row(suite, key, {}, "makespan", 10.0)


def measured(states: Sequence[State]) -> Measurement:
    return Measurement("feasible", total_s=10.0).with_history(states)


@pytest.mark.parametrize(("suite", "key"), SHOWN)
def test_rows_with_a_curve_are_there(suite: str, key: str) -> None:
    assert key in {row.key for row in SUITES[suite]()}


def test_a_curve_ends_where_value_and_bound_meet(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "anytime.json"
    keep_curves(path, [(row_of(0), measured(CLOSED))])
    (curve,) = json.loads(path.read_text())
    assert curve["end_s"] == 3.0
    assert curve["states"] == [[0.25, None, 5], [0.5123, 9, 5], [3.0, 7, 7]]


def test_a_curve_that_stays_open_ends_with_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "anytime.json"
    keep_curves(path, [(row_of(0), measured(OPEN))])
    (curve,) = json.loads(path.read_text())
    assert curve["end_s"] == 10.0


def test_curves_stay_until_they_are_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "anytime.json"
    keep_curves(path, [(row_of(2), measured(OPEN)), (row_of(1), measured(OPEN))])
    keep_curves(path, [(row_of(0), measured(OPEN)), (row_of(2), measured(CLOSED))])
    curves = json.loads(path.read_text())
    assert [(curve["suite"], curve["key"]) for curve in curves] == list(SHOWN[:3])
    assert [len(curve["states"]) for curve in curves] == [1, 1, 3]


def test_other_rows_and_rows_without_a_history_leave_no_file(tmp_path: Path) -> None:
    path = tmp_path / "anytime.json"
    other = Row("bench58", "another", {}, "makespan", 10.0)
    keep_curves(path, [(other, measured(OPEN)), (row_of(0), measured([]))])
    assert not path.exists()
