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


def test_a_schedule_that_does_not_fit_stands_with_its_reason() -> None:
    result = call("compare", "-", "-t", 0, stdin=SMALL.replace("memory_gb: 0.3", "memory_gb: 0.2"))
    (row,) = [line for line in result.stdout.splitlines() if "GPipe" in line]
    assert "needs 3 activations (300 MB) on east/0, has 200 MB" in row


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
    assert "infeasible" in result.stdout


def test_two_placements_are_compared() -> None:
    spec = SMALL.replace("devices: 2", "devices: 1").replace("0.3", "0.6")
    answer = answer_of(call("compare", "-", "-t", 0, "--format", "json", stdin=spec))
    assert {row["traversal"] for row in answer["families"]} == {"loop", "wave"}
