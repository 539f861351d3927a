"""An account on a terminal: at most 25 lines."""

from __future__ import annotations

from typing import Any

from tests.unit.accounts.accounting import LAYERS, TWO, account

from crosspipe.accounts.text import account_text

SITES: dict[str, Any] = {name: {"devices": 6} for name in ("a", "b")}


def words(spec: Any) -> list[str]:
    lines = account_text(account(spec))
    assert len(lines) <= 25
    return [line.split()[0] for line in lines]


def test_lines_of_a_small_account() -> None:
    lines = account_text(account(TWO))
    assert lines[0].startswith("OPTIMAL  makespan 18.0 ms (")
    assert lines[1].split(" + ") == [
        "path     F 2.0 ms",
        "BW 4.0 ms",
        "latency 10.0 ms on a-b",
        "transfer 1.0 ms on a-b/out",
        "transfer 1.0 ms on a-b/back",
    ]
    assert lines[2].startswith("busiest  a/0 (as much as 1 other) 3.0 ms: 16.67 % of the step")
    assert "help     no latency between sites: 8.0 ms (55.56 % less); 10.0 ms of the critical path" in lines
    assert lines[-1] == "idle     b/0 15.0 ms: cool-down 8.0 ms, warm-up 7.0 ms"


def test_the_cut_is_told_last() -> None:
    assert words(LAYERS)[-1] == "cut"
    assert "cut" not in words(TWO)


def test_many_devices_stay_within_the_lines() -> None:
    many = LAYERS | {"model": {"layers": [LAYERS["model"]["layers"][0] | {"repeat": 24}]}, "sites": SITES}
    assert words(many).count("idle") == 9
    assert any("more in --format json" in line for line in account_text(account(many)))


def test_without_a_schedule_the_reasons() -> None:
    small = TWO | {"sites": {"a": {"devices": 1, "memory_gb": 0.05}, "b": {"devices": 1}}}
    lines = account_text(account(small))
    assert lines[0] == "INFEASIBLE: no schedule exists"
    assert lines[1].startswith("- memory of a/0")
