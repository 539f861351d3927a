"""The orders of every witness, replayed: the proved value again, by the checker, the reference and the measures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.golden import reference_check
from tests.golden.cases import case_named, expected, with_recomputed, witness_ids
from tests.golden.mapping import value_ns, witness_form
from tests.golden.mutations import Accepted, accepted

from crosspipe.checker.check import check
from crosspipe.problem.problem import Objective
from crosspipe.schedule import measure
from crosspipe.schedule.orders import Orders
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from crosspipe.schedule.orders import IntArray


def sequences(good: Accepted) -> tuple[IntArray, ...]:
    """Read the order of every device and lane off the times."""
    starts, ends = np.array(good.starts), np.array(good.ends)
    return tuple(row[np.lexsort((ends[row], starts[row]))] for row in good.problem.by_resource)


@pytest.mark.parametrize("case_id", witness_ids())
def test_a_witness_replayed_is_right_and_as_good(case_id: str) -> None:
    case, good = case_named(case_id), accepted(case_id)
    schedule = timed(good.problem, Orders(sequences(good)), Objective(case["objective"]))
    rows = [
        replace(row, start_ns=int(start), end_ns=int(end), resource=int(resource))
        for row, start, end, resource in zip(
            good.rows, schedule.start_ns, schedule.end_ns, good.problem.operations.resource, strict=True
        )
    ]
    report = check(good.problem, rows)
    assert report.violations == ()
    value = report.makespan_ns if case["objective"] == "makespan" else report.span_ns
    assert value == value_ns(case, expected(case))
    assert report.makespan_ns == measure.makespan_ns(schedule)
    assert report.span_ns == measure.span_ns(good.problem, schedule)
    assert [(peak.amount, peak.at_ns) for peak in report.peaks] == [
        (peak.amount, peak.at_ns) for peak in measure.peaks(good.problem, schedule)
    ]
    errors, _, _ = reference_check.check(with_recomputed(case, good.problem.recomputed), witness_form(case, rows))
    assert errors == []
