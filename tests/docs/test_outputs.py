"""The comparison of outputs notices what matters and nothing else."""

from __future__ import annotations

import pytest
from tests.docs.outputs import agrees
from tests.docs.session import commands_of


@pytest.mark.parametrize(
    ("shown", "printed", "mode"),
    [
        (["OK: makespan 5.0 ms"], "OK: makespan 5.0 ms\n", ""),
        (["OPTIMAL  makespan 5.0 ms   [proved, 0.1 s]"], "OPTIMAL  makespan 5.0 ms   [proved, 7.3 s]\n", "search"),
        (["FEASIBLE makespan 5.0 ms"], "OPTIMAL  makespan 4.0 ms\n", "search"),
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
        (["OPTIMAL  makespan 5.0 ms   [proved, 0.1 s]"], "OPTIMAL  makespan 4.0 ms   [proved, 0.1 s]\n", "search"),
        (["OPTIMAL  makespan 5.0 ms"], "FEASIBLE makespan 5.0 ms\n", "search"),
        (["a", "...", "z"], "a\nb\nc\n", ""),
        (["a", "...", "z"], "z\n", ""),
        (["a"], "a\nb\n", ""),
    ],
)
def test_what_does_not(shown: list[str], printed: str, mode: str) -> None:
    assert not agrees(shown, printed, mode)


def test_a_document_that_is_brought_up_to_date_is_not_behind() -> None:
    assert not agrees(["FEASIBLE makespan 5.0 ms"], "OPTIMAL  makespan 4.0 ms\n", "search", behind=False)


def test_commands_and_their_output() -> None:
    assert [*commands_of("$ a \\\n  b\none\n$ c\n")] == [("a \\\n  b", ["one"]), ("c", [])]
