"""The comparison of outputs notices what matters and nothing else."""

from __future__ import annotations

import pytest
from tests.docs.outputs import agrees
from tests.docs.session import commands_of

OPTIMAL = "OPTIMAL  makespan 1,005.0 ms   [proved, 0.1 s]"
FEASIBLE = "FEASIBLE makespan 1,006.0 ms, no schedule can beat 1,003.0 ms (gap 0.30 %)   [time_limit, 9.9 s]"
WORSE = "FEASIBLE makespan 1,008.0 ms, no schedule can beat 1,001.0 ms (gap 0.69 %)   [time_limit, 9.9 s]"
TOO_GOOD = "FEASIBLE makespan 1,004.0 ms, no schedule can beat 1,003.0 ms (gap 0.10 %)   [time_limit, 9.9 s]"
TOO_HIGH = "FEASIBLE makespan 1,009.0 ms, no schedule can beat 1,007.0 ms (gap 0.20 %)   [time_limit, 9.9 s]"


@pytest.mark.parametrize(
    ("shown", "printed", "mode"),
    [
        (["OK: makespan 5.0 ms"], "OK: makespan 5.0 ms\n", ""),
        ([OPTIMAL], OPTIMAL.replace("0.1 s", "7.3 s"), ""),
        ([OPTIMAL], OPTIMAL, "search"),
        ([OPTIMAL], FEASIBLE, "search"),
        ([FEASIBLE], WORSE, "search"),
        ([FEASIBLE], OPTIMAL, "search"),
        ([OPTIMAL, "links    a", "memory   b"], f"{FEASIBLE}\nmemory   c", "search"),
        (["a", "...", "z"], "a\nb\nc\nz\n", ""),
        (["a", "..."], "a\n", ""),
        (['"instance":"urn:uuid:1-2"'], '"instance":"urn:uuid:a-b"\n', ""),
    ],
)
def test_what_agrees(shown: list[str], printed: str, mode: str) -> None:
    assert agrees(shown, printed, mode)


@pytest.mark.parametrize(
    ("shown", "printed", "mode"),
    [
        (["OK: makespan 5.0 ms"], "OK: makespan 6.0 ms\n", ""),
        ([OPTIMAL], OPTIMAL.replace("1,005.0", "1,004.9"), "search"),
        ([OPTIMAL], TOO_GOOD, "search"),
        ([OPTIMAL], TOO_HIGH, "search"),
        ([FEASIBLE], TOO_HIGH, "search"),
        ([OPTIMAL], "INFEASIBLE: no schedule exists", "search"),
        ([OPTIMAL, "memory   b"], f"{OPTIMAL}\nbubble   c", "search"),
        (["a", "...", "z"], "a\nb\nc\n", ""),
        (["a", "...", "z"], "z\n", ""),
        (["a"], "a\nb\n", ""),
    ],
)
def test_what_does_not(shown: list[str], printed: str, mode: str) -> None:
    assert not agrees(shown, printed, mode)


def test_commands_and_their_output() -> None:
    assert [*commands_of("$ a \\\n  b\none\n$ c\n")] == [("a \\\n  b", ["one"]), ("c", [])]
