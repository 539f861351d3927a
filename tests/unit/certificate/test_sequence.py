"""Index order is taken only where the spec fixes it or nothing tells microbatches apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.building import STAGE, problem

from crosspipe.certificate.sequence import microbatches_alike, ordered_classes
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

LINKED = problem(
    [STAGE | {"boundary_mb": 1, "gradient_mb": 1}] * 2,
    3,
    sites={"a": {"devices": 1, "memory_gb": 0.004}, "b": {"devices": 1}},
    links=[{"between": ["a", "b"], "bandwidth_gbps": 8}],
    extra_operations=[{"name": "sum", "duration_ms": 1, "after": [0]}],
)


def test_microbatches_of_a_plain_problem_are_alike() -> None:
    assert microbatches_alike(LINKED)
    ordered = ordered_classes(LINKED)
    assert ordered[int(Kind.F), 0, 1, 0] == LINKED.numbers[Kind.F, 0, 1].tolist()
    assert len(ordered) == 8  # F, B, W of two stages, two messages


def changed(column: str, group: str) -> Problem:
    rows = getattr(LINKED, group)
    values = getattr(rows, column).copy()
    values[-2] += 1
    return replace(LINKED, **{group: replace(rows, **{column: values})})


@pytest.mark.parametrize(
    ("group", "column"),
    [
        ("operations", "duration_ns"),
        ("operations", "resource"),
        ("precedences", "lag_ns"),
        ("holdings", "amount"),
        ("holdings", "pool"),
    ],
)
def test_one_row_that_differs_tells_microbatches_apart(group: str, column: str) -> None:
    assert not microbatches_alike(changed(column, group))
    assert ordered_classes(changed(column, group)) == {}


def test_a_wait_between_microbatches_tells_them_apart() -> None:
    waits = LINKED.precedences
    first, second = (int(LINKED.numbers[Kind.F, 0, 0, j]) for j in (0, 1))
    longer = replace(
        waits,
        before=np.append(waits.before, first),
        after=np.append(waits.after, second),
        lag_ns=np.append(waits.lag_ns, 0),
    )
    assert not microbatches_alike(replace(LINKED, precedences=longer))


def test_an_extra_operation_that_waits_for_one_microbatch_tells_them_apart() -> None:
    waits = LINKED.precedences
    ((_, extra),) = LINKED.extras
    kept = np.ones(len(waits), dtype=bool)
    kept[np.flatnonzero(waits.after == extra)[0]] = False
    fewer = replace(waits, before=waits.before[kept], after=waits.after[kept], lag_ns=waits.lag_ns[kept])
    assert not microbatches_alike(replace(LINKED, precedences=fewer))


def test_unlike_microbatches_keep_an_order_only_if_the_spec_fixes_it() -> None:
    free = problem(2, {"multipliers": [1, 2], "order": "free"})
    fixed = problem(2, {"multipliers": [1, 2], "order": "fixed"})
    assert ordered_classes(free) == {}
    assert ordered_classes(fixed)[int(Kind.B), 0, 0, 0] == fixed.numbers[Kind.B, 0, 0].tolist()


def test_a_single_microbatch_is_in_order() -> None:
    assert len(ordered_classes(problem(2, 1))) == 6
