"""Verdicts, tables, comparison with the stored one, ratios between contenders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from bench.history import State
from bench.measurement import Measurement, with_times
from bench.row import Goal, Reference, Row
from bench.table import compared, markdown, table_data, totals
from bench.verdicts import milliseconds, verdicts
from bench.versus_table import Ratio, versus_data, versus_markdown

ROW = Row("suite", "row", {}, "makespan", 10.0)
SOLVED = with_times(
    Measurement("optimal", 100_000_000, 100_000_000, total_s=3.0, peak_mb=50.0, value_from="x").with_history(
        [State(0.1, 120_000_000, 90_000_000, "a"), State(2.0, 100_000_000, 100_000_000, "b")]
    )
)


def held(reference: Reference, measured: Measurement = SOLVED, goal: Goal | None = None) -> dict[str, bool]:
    row = replace(ROW, reference=reference, goal=goal or Goal())
    return {verdict.name: verdict.holds for verdict in verdicts(row, measured)}


@pytest.mark.parametrize(
    ("value_ns", "bound_ns", "holds"),
    [
        (100_000_000, 100_000_000, {"value": True, "bound": True}),
        (101_000_000, 99_000_000, {"value": True, "bound": True}),
        (99_000_000, None, {"value": False}),
        (None, 100_000_001, {"bound": False}),
    ],
)
def test_values_and_bounds(value_ns: int | None, bound_ns: int | None, holds: dict[str, bool]) -> None:
    assert held(Reference(value_ns=value_ns, bound_ns=bound_ns)) == holds


def test_words_say_reached_beaten_missed() -> None:
    for known, word in ((100_000_000, "reached"), (101_000_000, "beaten"), (99_000_000, "missed")):
        (verdict,) = verdicts(replace(ROW, reference=Reference(value_ns=known)), SOLVED)
        assert verdict.words == f"{milliseconds(known)} {word}"


@pytest.mark.parametrize(("known", "word"), [(99_960_000, "reached"), (100_040_000, "reached"), (99_900_000, "missed")])
def test_what_is_known_in_rounded_form_is_reached_within_the_rounding(known: int, word: str) -> None:
    (verdict,) = verdicts(replace(ROW, reference=Reference(value_ns=known, rounding_ns=50_000)), SOLVED)
    assert (verdict.holds, verdict.words) == (word != "missed", f"{milliseconds(known)} {word}")


def test_a_value_below_a_proved_optimum_is_unsound() -> None:
    proved = Reference("optimal", 100_000_001, 100_000_001)
    assert held(proved)["sound"] is False
    assert held(Reference("optimal", 100_000_000, 100_000_000))["sound"] is True


def test_a_bound_above_a_proved_optimum_is_unsound() -> None:
    wrong = replace(SOLVED, value_ns=100_000_000, bound_ns=100_000_001)
    assert held(Reference("optimal", 100_000_000, 100_000_000), wrong)["sound"] is False


def test_refuted() -> None:
    assert held(Reference("infeasible")) == {"refuted": False}
    assert held(Reference("infeasible"), Measurement("infeasible", total_s=0.1)) == {"refuted": True}


def test_the_best_peer_counts() -> None:
    row = replace(ROW, reference=Reference(peers={"slow": 200_000_000, "fast": 99_000_000}))
    (verdict,) = verdicts(row, SOLVED)
    assert (verdict.name, verdict.holds, verdict.words) == ("peer", False, "fast 99 missed")


def test_goals() -> None:
    goal = Goal(first_s=0.1, gap=0.25, gap_s=0.1, proof_s=1.9, peak_mb=49.0)
    assert held(Reference(), goal=goal) == {"first": True, "gap 25.00%": True, "proof": False, "memory": False}
    never = Measurement("feasible", 1, None, total_s=1.0)
    assert held(Reference(), never, Goal(gap=0.5, gap_s=1.0)) == {"gap 50.00%": False}


def test_a_failed_row_is_one_verdict() -> None:
    assert held(Reference(value_ns=1), Measurement.failed("out of memory")) == {"runs": False}


def test_milliseconds_lose_no_digit() -> None:
    assert milliseconds(1_310_405_000) == "1,310.405"
    assert milliseconds(27_000_000) == "27"
    assert milliseconds(120_000_000) == "120"
    assert milliseconds(5) == "0.000005"


def test_markdown_has_one_line_per_row() -> None:
    text = markdown("suite", [(ROW, SOLVED), (replace(ROW, name="a|b"), Measurement.failed("dead"))], {})
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(lines) == 4
    assert lines[2].startswith("| row | 100 | 100 | 0.00% | 0.10 | 2.00 | 2.00 | 3.00 | 50 | x |")
    assert lines[3].startswith("| a/b | failed |")
    assert "2 rows, 1 proved (1 within 2 s), 3.0 s in all." in text


def test_totals_and_data() -> None:
    row = replace(ROW, reference=Reference(value_ns=1))
    assert totals([(row, SOLVED)])["verdicts"] == {"value": [0, 1]}
    data: dict[str, Any] = table_data([(row, SOLVED)], {"row": {"value_ns": 1}})
    assert data["rows"][0]["verdicts"] == [["value", False, "0.000001 missed"]]
    assert data["rows"][0]["stored"] == {"value_ns": 1}
    assert data["rows"][0]["history"][1] == [2.0, 100_000_000, 100_000_000, "b"]


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ({"value_ns": 100_000_000, "bound_ns": 100_000_000, "proof_s": 1.0}, "proof 2.00 x the time"),
        (
            {"value_ns": 110_000_000, "bound_ns": 80_000_000, "proof_s": None},
            "value better by 9.091%, bound better by 25.000%, proof new",
        ),
        (
            {"value_ns": 80_000_000, "bound_ns": 110_000_000, "proof_s": 2.0},
            "value worse by 25.000%, bound worse by 9.091%, proof 1.00 x the time",
        ),
        ({"value_ns": None, "bound_ns": 100_000_000, "proof_s": 2.0}, "value new, proof 1.00 x the time"),
    ],
)
def test_comparison_with_the_stored_row(stored: dict[str, Any], words: str) -> None:
    assert compared(SOLVED, stored) == words


def test_a_lost_proof_is_said() -> None:
    open_now = Measurement("feasible", 100, None)
    assert compared(open_now, {"value_ns": 100, "bound_ns": 100, "proof_s": 1.0}) == "bound lost, proof lost"


def test_nothing_new_is_the_same() -> None:
    assert compared(Measurement("feasible", 100, 90), {"value_ns": 100, "bound_ns": 90, "proof_s": None}) == "same"


def test_ratios() -> None:
    theirs = with_times(
        Measurement("feasible", 120_000_000, 80_000_000, total_s=10.0).with_history(
            [State(5.0, 120_000_000, 80_000_000, "c")]
        )
    )
    measured = [(ROW, SOLVED), (replace(ROW, contender="milp"), theirs)]
    (found,) = versus_data(measured)
    assert found["to_value"] == [5.0, 0.1, 50.0, False]
    assert found["to_proof"] == [None, 2.0, 5.0, True]
    assert "| row | milp | 120 | 80 | 100 | 5.00 / 0.10 | 50.0 | not / 2.00 | over 5.0 |" in versus_markdown(measured)


def test_no_ratio_where_we_did_not_arrive() -> None:
    assert Ratio.of(1.0, None, 10.0) == Ratio(1.0, None, None)
    assert Ratio.of(1.0, None, 10.0).words == ("1.00 / not", "")


def test_a_contender_without_a_value_has_no_ratio_to_it() -> None:
    measured = [(ROW, SOLVED), (replace(ROW, contender="milp"), Measurement("unknown", total_s=10.0))]
    assert versus_data(measured)[0]["to_value"] == [None, None, None, False]
