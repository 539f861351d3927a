"""Two arrangements at a factor, and bisection between two made-up ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.unit.sweeps.sweeping import point

from crosspipe.plans.break_even import AXES, Pair, deepen, find_flip, probe_of
from crosspipe.plans.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.plans.line import Line
    from crosspipe.sweeps.models import SweepPoint

ONE = Decimal(1)
BANDWIDTH, LATENCY, MEMORY = AXES


@dataclass
class Made:
    """A line whose value is a function of the factor, with a gap."""

    value: Callable[[Decimal], float | None]
    gap: float = 0.0
    constant: bool = False
    solved: list[Decimal] = field(default_factory=list)

    def solve(self, factor: Decimal, _time_limit_s: float, _should_stop: Any, *, again: bool = False) -> None:
        self.solved.append(factor)
        if again:
            self.gap = 0.0

    def at(self, factor: Decimal) -> SweepPoint:
        value = self.value(ONE if self.constant else factor)
        if value is None:
            return point({"x": float(factor)}, None, status="infeasible")
        return point({"x": float(factor)}, value, value * (1 - self.gap))


def flip(best: Made, other: Made, axis: Any = BANDWIDTH) -> Any:
    pair = Pair(cast("Line", best), cast("Line", other), axis, 0.0, Budget(0))
    find_flip(pair)
    return pair.found


def test_a_flip_is_closed_in_on() -> None:
    found = flip(Made(lambda x: 10 + 1 / float(x)), Made(lambda _: 15.0, constant=True))
    assert found.direction == "less"
    assert found.first_other(proved=True) == found.first_other(proved=False)
    assert found.first_other(proved=True) < 0.2 <= found.last_best(proved=True)
    assert found.last_best(proved=True) / found.first_other(proved=True) < 1.06


def test_gaps_leave_an_interval_unproved() -> None:
    found = flip(Made(lambda x: 10 + 1 / float(x), gap=0.05), Made(lambda _: 15.0, gap=0.05, constant=True))
    assert found.first_other(proved=True) < found.first_other(proved=False)
    assert found.last_best(proved=True) > found.last_best(proved=False)


def test_more_time_next_to_the_flip_proves_it() -> None:
    best, other = Made(lambda x: 10 + 1 / float(x), gap=0.05), Made(lambda _: 15.0, gap=0.05, constant=True)
    pair = Pair(cast("Line", best), cast("Line", other), BANDWIDTH, 0.0, Budget(60))
    find_flip(pair)
    before = pair.found
    deepen(pair, 4.0)
    assert (before.is_settled, pair.found.is_settled) == (False, True)
    # What is proved once its gap is closed is not searched again.
    assert float(best.solved[-1]) == before.last_best(proved=False)
    assert best.solved.count(best.solved[-1]) == 2


def test_latency_flips_upwards() -> None:
    found = flip(Made(lambda x: 10 + float(x)), Made(lambda _: 15.0, constant=True), LATENCY)
    assert found.direction == "more"
    assert found.last_best(proved=True) <= 5 < found.first_other(proved=True)


def test_no_flip_is_none() -> None:
    found = flip(Made(lambda _: 10.0), Made(lambda _: 15.0))
    assert (found.direction, found.first_other(proved=False), found.last_best(proved=False)) == (None, None, None)
    assert [probe.factor for probe in found.probes] == [0.02, 1, 50]


def test_directions_that_cannot_flip_are_not_solved() -> None:
    best = Made(lambda _: 10.0)
    flip(best, Made(lambda _: 15.0, constant=True))
    assert best.solved == [BANDWIDTH.least]
    other = Made(lambda _: 15.0)
    flip(Made(lambda _: 10.0, constant=True), other)
    assert other.solved == [BANDWIDTH.most]


def test_without_memory_the_other_is_faster() -> None:
    found = flip(Made(lambda x: 10.0 if x > Decimal("0.6") else None), Made(lambda _: 15.0), MEMORY)
    assert found.direction == "less"
    assert found.first_other(proved=True) <= 0.6 < found.last_best(proved=True)


@pytest.mark.parametrize(
    ("best", "other", "faster", "proved"),
    [
        ((10.0, 9.0), (12.0, 11.0), "best", True),
        ((10.0, 9.0), (12.0, 9.5), "best", False),
        ((10.0, 9.0), (10.0, 10.0), "best", True),
        ((10.0, 9.0), (9.5, 9.0), "other", False),
        ((10.0, 9.0), (8.5, 8.0), "other", True),
        ((10.0, 9.0), None, "best", True),
        (None, (10.0, 9.0), "other", True),
        (None, None, None, False),
    ],
)
def test_who_is_faster_and_whether_that_is_proved(best: Any, other: Any, faster: Any, proved: bool) -> None:
    points = [point({"x": 1}, *one) if one else point({"x": 1}, None, status="infeasible") for one in (best, other)]
    probe = probe_of(ONE, points[0], points[1])
    assert (probe.faster, probe.proved) == (faster, proved)


def test_an_unknown_schedule_proves_nothing() -> None:
    probe = probe_of(ONE, point({"x": 1}, 10.0, 9.0), point({"x": 1}, None, status="unknown"))
    assert (probe.faster, probe.proved) == ("best", False)
