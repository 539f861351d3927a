"""A hundred thousand operations are judged exactly, right or all wrong; no time is asserted."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.unit.checker.drafts import Draft

from crosspipe.checker.check import check
from crosspipe.checker.placed import Placed
from crosspipe.problem.links import Lane
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Pool, Problem

STAGES, MICROBATCHES = 8, 2650
LANES = 2 * (STAGES - 1)


def start_of(kind: Kind, stage: int, microbatch: int) -> int:
    """All forwards, then all B, then all W; every operation takes 1 ns, every message 1 ns and no latency."""
    turn = MICROBATCHES + 2 * STAGES
    if kind in (Kind.F, Kind.ACTIVATION):
        return 2 * stage + microbatch + (kind is Kind.ACTIVATION)
    if kind is Kind.W:
        return 2 * turn + microbatch
    from_last = 2 * (STAGES - 1 - stage)
    return turn + from_last + microbatch - (kind is Kind.GRADIENT)


@pytest.fixture(scope="module")
def large() -> tuple[Problem, list[Placed]]:
    draft = Draft(devices=[f"d{stage}" for stage in range(STAGES)])
    draft.lanes = [Lane(f"l{lane}", f"l{lane}", None) for lane in range(LANES)]
    draft.pools = [Pool("memory", "bytes", stage, MICROBATCHES) for stage in range(STAGES)]
    rows: list[Placed] = []

    def add(kind: Kind, stage: int, microbatch: int, resource: int) -> int:
        rows.append(Placed(kind, stage, microbatch, 0, start_of(kind, stage, microbatch)))
        return draft.add(kind, stage, microbatch, 1, resource)

    for microbatch in range(MICROBATCHES):
        arrived: list[int] = []
        for stage in range(STAGES):
            forward, backward, weight = (add(kind, stage, microbatch, stage) for kind in (Kind.F, Kind.B, Kind.W))
            draft.precedences += [(forward, backward, 0), (backward, weight, 0)]
            draft.holdings.append((stage, forward, weight, 1))
            if stage:
                activation, gradient = arrived
                draft.precedences += [(activation, forward, 0), (backward, gradient, 0)]
            if stage + 1 < STAGES:
                arrived = [
                    add(Kind.ACTIVATION, stage, microbatch, STAGES + 2 * stage),
                    add(Kind.GRADIENT, stage, microbatch, STAGES + 2 * stage + 1),
                ]
                draft.precedences += [(forward, arrived[0], 0), (arrived[1], backward, 0)]
    return draft.problem(), rows


def test_a_large_schedule_is_accepted(large: tuple[Problem, list[Placed]]) -> None:
    problem, rows = large
    assert len(rows) > 100_000
    report = check(problem, rows)
    assert report.ok
    assert report.makespan_ns == 3 * MICROBATCHES + 4 * STAGES
    assert {peak.amount for peak in report.peaks} == {MICROBATCHES}


def test_a_large_schedule_with_everything_at_once_is_refused_in_full(large: tuple[Problem, list[Placed]]) -> None:
    problem, rows = large
    report = check(problem, [Placed(row.kind, row.stage, row.microbatch, 0, 0, 5) for row in rows])
    count = Counter(violation.kind.value for violation in report.violations)
    assert count["duration"] == len(rows)
    assert count["overlap_device"] == STAGES * (3 * MICROBATCHES - 1)
    assert count["overlap_link"] == LANES * (MICROBATCHES - 1)
    assert count["dependency"] == len(problem.precedences)
