"""Window moves on the best schedule: never worse, better in the end, for both objectives."""

from __future__ import annotations

import pytest
from tests.building import STAGE
from tests.building import problem as compiled
from tests.unit.families.instances import Message, uniform
from tests.unit.families.judged import accepted

from crosspipe.families.greedy import greedy
from crosspipe.families.settings import Rule, Settings
from crosspipe.model.result import ModelLimits
from crosspipe.model.solve import improve
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import value_ns
from crosspipe.search.neighbourhoods import WindowMoves
from crosspipe.search.shared import Shared

LIMITS = ModelLimits(time_s=30.0, workers=1)
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


def _linked(**more: object) -> Problem:
    """Two devices, one in each site, a thin link between them, room for two microbatches."""
    stage = STAGE | {"forward_ms": 3, "backward_input_ms": 4, "backward_weight_ms": 2, "boundary_mb": 3}
    link = {"between": ["a", "b"], "one_way_latency_ms": 3, "bandwidth_gbps": 8, "group": "wan"}
    sites = {name: {"devices": 1, "memory_gb": 0.002} for name in ("a", "b")}
    windows = {key: more.pop(key) for key in ("period_ms", "closed_ms", "slow_ms") if key in more}
    return compiled([stage] * 2, 5, sites=sites, links=[link | windows], **more)


REDUCE = [{"name": f"{s}.{k}", "size_mb": 4, "lane": "wan/out", "after": [s]} for s in (0, 1) for k in (0, 1)]
SAID: dict[str, dict[str, object]] = {
    "deadline": {"limits": {"stage_deadlines_ms": {"1": 112}}},
    "closed again and again": {"period_ms": 40, "closed_ms": [[25, 40]]},
    "closed once": {"closed_ms": [[20, 60]]},
    "slower": {"slow_ms": [[10, 60, 3]]},
    "reductions": {"extra_operations": REDUCE},
    "closed, and reductions": {"extra_operations": REDUCE, "closed_ms": [[30, 40]]},
}


@pytest.mark.parametrize("said", SAID)
def test_moves_keep_deadlines_and_windows_and_move_extra_operations(said: str) -> None:
    problem = _linked(**SAID[said])
    shared = _shared(problem, Objective.MAKESPAN)
    first = shared.value_ns
    moves = WindowMoves(shared, 3)
    for _ in range(20):
        moves.step()
    assert shared.schedule is not None
    assert first is not None
    assert shared.value_ns is not None
    if said == "slower":  # the model does not see how slow a lane is
        assert shared.value_ns < first
    else:
        assert shared.value_ns == improve(problem, Objective.MAKESPAN, None, 0, LIMITS).bound_ns
    best = accepted(problem, shared.schedule.orders, Objective.MAKESPAN)
    assert value_ns(problem, best, Objective.MAKESPAN) == shared.value_ns


def test_without_a_schedule_there_is_nothing_to_move() -> None:
    nothing = Shared(
        uniform(2, 2), Objective.MAKESPAN, None, 0, (9.0, 0.0), lambda *_: None, lambda *_: None, lambda: False
    )
    moves = WindowMoves(nothing, 0)
    assert not moves.applies
    moves.step()
    assert nothing.schedule is None
