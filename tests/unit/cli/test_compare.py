from __future__ import annotations

import pytest
from tests.unit.cli.running import SMALL, TOO_SMALL, answer_of, call

from crosspipe.answer.models import Answer
from crosspipe.families.registry import FAMILIES, GREEDY

NAMES = [*(family.name for family in FAMILIES), GREEDY]


def test_every_known_schedule_is_in_the_table_best_first() -> None:
    result = call("compare", "-", "-t", 0, stdin=SMALL)
    assert result.exit_code == 0
    rows = [line for line in result.stdout.splitlines() if line.startswith("│")]
    names = [row.split("│")[1].strip() for row in rows]
    assert sorted(names) == sorted([*NAMES, "best found"])
    assert names[-1] == "best found"
    assert result.stdout.splitlines()[1].split("┃")[1].strip() == "schedule"
    assert "…" not in result.stdout, "a pipe has room for everything"


def test_what_is_proved_of_the_best_stands_below() -> None:
    lines = call("compare", "-", "-t", 0, stdin=SMALL).stdout.splitlines()
    (found,) = [line for line in lines if line.startswith(("FEASIBLE makespan ", "OPTIMAL  makespan "))]
    assert lines.index(found) > max(place for place, line in enumerate(lines) if line.startswith("└"))


def test_schedules_with_one_reason_share_a_line() -> None:
    spec = SMALL.replace("backward_input_ms: 2.9, backward_weight_ms: 2.3", "backward_ms: 5.2").replace(
        "retained_mb: 40, ", ""
    )
    found = call("compare", "-", "-t", 0, stdin=spec).stdout
    assert "\nno 1F1B split, ZB-H1, ZB-H2: needs B and W apart; " in found


def test_a_terminal_of_80_columns_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crosspipe.cli.compare.WIDE", 80)
    table = [line for line in call("compare", "-", "-t", 0, stdin=SMALL).stdout.splitlines() if line.startswith("│")]
    assert len(table) == len(NAMES) + 1
    assert "…" not in "".join(table)


def test_a_schedule_that_does_not_fit_stands_with_its_reason() -> None:
    result = call("compare", "-", "-t", 0, stdin=SMALL.replace("memory_gb: 0.3", "memory_gb: 0.2"))
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("no GPipe")]
    assert line.endswith(": needs 3 activations (300 MB) on east/0, has 200 MB")


@pytest.mark.parametrize("objective", ["makespan", "span"])
def test_json_is_an_answer(objective: str) -> None:
    result = call("compare", "-", "-t", 0, "--objective", objective, "--format", "json", stdin=SMALL)
    answer = Answer.model_validate_json(result.stdout)
    assert [row.name for row in answer.families] == NAMES
    assert answer.objective.name == objective
    assert all(device.operations is None for device in answer.devices)


def test_no_schedule_at_all_is_exit_code_3() -> None:
    result = call("compare", "-", "-t", 0, stdin=TOO_SMALL)
    assert result.exit_code == 3
    first, *reasons = result.stdout.splitlines()
    assert first == "INFEASIBLE: no schedule exists"
    assert reasons[0].startswith("- memory of east/0, east/1, west/0 and west/1 is too small: ")


def test_two_placements_are_compared() -> None:
    spec = SMALL.replace("devices: 2", "devices: 1").replace("0.3", "0.6")
    answer = answer_of(call("compare", "-", "-t", 0, "--format", "json", stdin=spec))
    assert {row["traversal"] for row in answer["families"]} == {"loop", "wave"}
