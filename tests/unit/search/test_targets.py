"""Targets one after another: from a poor schedule to the proved optimum, and where they do not apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.families.instances import Message, uniform
from tests.unit.families.judged import accepted

from crosspipe.families.greedy import greedy
from crosspipe.families.settings import Rule, Settings
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import makespan_ns
from crosspipe.search.shared import Shared
from crosspipe.search.targets import FIRST_S, MOST_OPERATIONS, TargetSearch

if TYPE_CHECKING:
    from crosspipe.schedule.orders import Orders

News = list[tuple[str, int | None]]
POOR = Settings(Rule.FORWARD, patience=0.0, gap=0.0)


def _tight() -> Problem:
    """Three devices, a slow hop, little memory: the greedy is far off."""
    slow = {1: Message(latency=5, transfer=4, lane="wan")}
    return uniform(3, 6, forward=3, backward_input=4, backward_weight=2, capacity=8, slow=slow)


def _shared(problem: Problem, objective: Objective = Objective.MAKESPAN, time_s: float = 60.0) -> tuple[Shared, News]:
    news: News = []

    def on_orders(orders: Orders, source: str) -> None:
        news.append((source, makespan_ns(accepted(problem, orders))))

    def on_bound(bound_ns: int, source: str, _: object) -> None:
        news.append((source, bound_ns))

    orders = greedy(problem, POOR)
    return Shared(problem, objective, orders, 0, (time_s, 0.0), on_orders, on_bound, lambda: False), news


@pytest.mark.parametrize("deterministic", [False, True])
def test_bound_and_value_meet(deterministic: bool) -> None:
    shared, news = _shared(_tight())
    first_ns = shared.value_ns
    targets = TargetSearch(shared, 0, 1, deterministic=deterministic)
    assert targets.applies
    while not shared.ended():
        targets.step()
    assert shared.verdict() == "optimal"
    assert first_ns is not None
    assert shared.value_ns is not None
    assert shared.value_ns < first_ns
    assert {source for source, _ in news} >= {"cp-sat"}
    assert targets.spent_s > 0


def test_counted_work_takes_the_same_steps_twice() -> None:
    runs = []
    for _ in range(2):
        shared, news = _shared(_tight())
        targets = TargetSearch(shared, 5, 1, deterministic=True)
        while not shared.ended():
            targets.step()
        runs.append((news, targets.spent_s))
    assert runs[0] == runs[1]


def test_the_span_and_large_problems_are_left_to_others() -> None:
    shared, _ = _shared(uniform(2, 3), Objective.SPAN)
    assert not TargetSearch(shared, 0, 1).applies
    large = uniform(8, MOST_OPERATIONS // 24 + 1)
    assert len(large.operations) > MOST_OPERATIONS
    shared, _ = _shared(large)
    assert not TargetSearch(shared, 0, 1).applies


def test_without_a_schedule_there_is_nothing_to_better() -> None:
    problem = uniform(2, 3)
    shared = Shared(problem, Objective.MAKESPAN, None, 0, (9.0, 0.0), lambda *_: None, lambda *_: None, lambda: False)
    targets = TargetSearch(shared, 0, 1)
    assert not targets.applies
    assert not targets.step()


def test_where_no_target_is_decided_more_time_is_granted() -> None:
    shared, _ = _shared(_tight(), time_s=1e-9)
    targets = TargetSearch(shared, 0, 1)
    moved = [targets.step() for _ in range(30)]
    assert not moved[-1]
    assert targets.granted_s > FIRST_S
