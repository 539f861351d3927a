"""The checker and the reference replay checker, written apart, judge the same schedules alike: right ones and wrong."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.golden import reference_check
from tests.golden.cases import case_named, with_recomputed, witness, witness_ids
from tests.golden.compiled import problem_of
from tests.golden.mapping import case_schedule, value_ns

from crosspipe.checker.check import check

if TYPE_CHECKING:
    from tests.golden.cases import Rows

WORDS = {
    "missing": "missing",
    "unknown": "unknown",
    "duplicate": "duplicate",
    "negative start": "negative_start",
    "early": "dependency",
    "before F": "dependency",
    "extra op late": "dependency",
    "overlap on ('device'": "overlap_device",
    "overlap on ('link'": "overlap_link",
    "closed window": "window",
    "periodic window": "window",
    "order (": "order",
    "memory": "memory",
}


def kinds_of(errors: list[str]) -> set[str]:
    """Name the rules that the reference's messages speak of."""
    found = {kind for error in errors for words, kind in WORDS.items() if words in error}
    assert all(any(words in error for words in WORDS) for error in errors)
    return found


def disturbed(rows: Rows, rng: random.Random) -> Rows:
    """Move, swap or stretch a few operations of a schedule."""
    rows = [list(row) for row in rows]
    style = rng.randrange(4)
    if style == 0:  # one operation somewhere near
        row = rng.choice(rows)
        row[4] = max(0, row[4] + rng.choice([-3, -2, -1, 1, 2, 3]))
    elif style == 1:  # two operations change places
        a, b = rng.sample(rows, 2)
        a[4], b[4] = b[4], a[4]
    elif style == 2:  # all later ones move on: mostly still right
        cut, by = rng.choice(rows)[4], rng.randrange(1, 9)
        for row in rows:
            row[4] += by if row[4] >= cut else 0
    else:  # everything moves a little
        for row in rows:
            row[4] += rng.randrange(2)
    return rows


@pytest.mark.parametrize("case_id", witness_ids())
def test_the_verdicts_agree(case_id: str) -> None:
    case, problem = case_named(case_id), problem_of(case_id)
    rows, recomputed = witness(case_id)
    judged = with_recomputed(case, recomputed)
    rng = random.Random(case_id)  # noqa: S311  # which disturbances are tried, not a secret
    for _ in range(24):
        tried = disturbed(rows, rng)
        errors, makespan, span = reference_check.check(judged, tried)
        report = check(problem, case_schedule(case, tried), recomputed)
        theirs, ours = kinds_of(errors), {violation.kind.value for violation in report.violations}
        if "dependency" in theirs:
            # Memory given back before it was taken: the reference sums it all the same, the checker leaves it out.
            theirs, ours = theirs - {"memory"}, ours - {"memory"}
        assert ours == theirs
        assert makespan is not None
        assert span is not None
        assert (report.makespan_ns, report.span_ns) == (value_ns(case, makespan), value_ns(case, span))


def test_right_and_wrong_schedules_are_both_among_them() -> None:
    verdicts = set()
    for case_id in witness_ids()[:20]:
        case = case_named(case_id)
        rows, recomputed = witness(case_id)
        rng = random.Random(case_id)  # noqa: S311  # which disturbances are tried, not a secret
        for _ in range(24):
            placed = case_schedule(case, disturbed(rows, rng))
            verdicts.add(check(problem_of(case_id), placed, recomputed).ok)
    assert verdicts == {True, False}
