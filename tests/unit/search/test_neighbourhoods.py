"""Window moves on the best schedule: never worse, better in the end, for both objectives."""

from __future__ import annotations

import pytest
from tests.building import problem as compiled
from tests.unit.families.instances import Message, uniform
from tests.unit.families.judged import accepted

from crosspipe.families.greedy import greedy
from crosspipe.families.settings import Rule, Settings
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import value_ns
from crosspipe.search.neighbourhoods import WindowMoves
from crosspipe.search.shared import Shared

POOR = Settings(Rule.FORWARD, patience=0.0, gap=0.0)


def _shared(problem: Problem, objective: Objective) -> Shared:
    def on_orders(_: object, source: str) -> None:
        assert source == "neighbourhood"

    start = greedy(problem, POOR)
    return Shared(problem, objective, start, 0, (60.0, 0.0), on_orders, lambda *_: None, lambda: False)


@pytest.mark.parametrize("objective", Objective)
def test_moves_better_a_poor_schedule(objective: Objective) -> None:
    slow = {1: Message(latency=5, transfer=4, lane="wan")}
    problem = uniform(3, 6, forward=3, backward_input=4, backward_weight=2, capacity=8, slow=slow)
    shared = _shared(problem, objective)
    moves = WindowMoves(shared, 1)
    assert moves.applies
    values = [shared.value_ns]
    for _ in range(12):
        moves.step()
        values.append(shared.value_ns)
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=True)
    assert known[-1] < known[0]
    assert shared.schedule is not None
    best = accepted(problem, shared.schedule.orders, objective)
    assert value_ns(problem, best, objective) == known[-1]


def test_deadlines_windows_and_unknown_schedules_are_left_to_others() -> None:
    late = compiled(2, 2, limits={"deadline_ms": 1000})
    assert late.due_ns is not None
    assert not WindowMoves(_shared(late, Objective.MAKESPAN), 0).applies
    nothing = Shared(
        uniform(2, 2), Objective.MAKESPAN, None, 0, (9.0, 0.0), lambda *_: None, lambda *_: None, lambda: False
    )
    moves = WindowMoves(nothing, 0)
    assert not moves.applies
    moves.step()
    assert nothing.schedule is None
