"""Windows ordered anew: the frame prices a schedule exactly, moves keep every rule, and the widest one is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.unit.families.instances import Message, Work, build, uniform
from tests.unit.families.judged import accepted

from crosspipe.families.greedy import greedy
from crosspipe.families.settings import Rule, Settings
from crosspipe.model.result import ModelLimits
from crosspipe.model.solve import improve
from crosspipe.model.window import Move, Moves
from crosspipe.model.window_frame import Frame
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import makespan_ns, value_ns

if TYPE_CHECKING:
    from crosspipe.schedule.orders import Schedule

POOR = Settings(Rule.FORWARD, patience=0.0, gap=0.0)
SLOW = {1: Message(latency=5, transfer=4, lane="wan")}


def _problems() -> dict[str, Problem]:
    unlike = [Work(2, 3, 1), Work(4, 3, 2), Work(1, 2, 3), Work(3, 3, 3)]
    slow = [Message(1), Message(latency=3, transfer=5, lane="wan"), Message(1)]
    return {
        "uniform": uniform(3, 4, forward=3, backward_input=4, backward_weight=2, latency=1, capacity=6),
        "slow hop": uniform(3, 4, forward=3, backward_input=4, backward_weight=2, capacity=8, slow=SLOW),
        "wave": uniform(2, 4, forward=3, backward_input=4, backward_weight=2, chunks=2, wave=True, capacity=10),
        "unlike": build(unlike, [0, 1, 2, 3], 4, activations=slow, gradients=slow, capacity=6),
    }


PROBLEMS = _problems()
CASES = [(name, objective) for name in PROBLEMS for objective in Objective]


def _poor(problem: Problem, objective: Objective) -> Schedule:
    return accepted(problem, greedy(problem, POOR), objective)


def _windows(schedule: Schedule, seed: int) -> list[tuple[int, int]]:
    end = makespan_ns(schedule) + 1
    rng = np.random.default_rng(seed)
    cuts = [sorted(rng.choice(end + 1, 2, replace=False).tolist()) for _ in range(12)]
    return [(0, end), *((low, high) for low, high in cuts)]


@pytest.mark.parametrize(("name", "objective"), CASES)
def test_ends_and_tails_add_up_to_the_value(name: str, objective: Objective) -> None:
    problem = PROBLEMS[name]
    schedule = _poor(problem, objective)
    firsts = [int(schedule.start_ns[row].min()) for row in schedule.orders.sequences[: len(problem.devices)]]
    shift = max(firsts) if objective is Objective.SPAN else 0
    for window in _windows(schedule, 7):
        frame = Frame(problem, schedule, objective, window)
        through = [int(schedule.end_ns[v]) + frame.tail[v] for v in frame.inside]
        assert max([frame.fixed_ns, *through]) == frame.value_ns == value_ns(problem, schedule, objective) + shift
        assert all(frame.release[v] <= schedule.start_ns[v] for v in frame.inside)


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize(("name", "objective"), CASES)
def test_moves_keep_every_rule_and_never_lose(name: str, objective: Objective, equal: bool) -> None:
    problem = PROBLEMS[name]
    schedule, moves = _poor(problem, objective), Moves(problem, objective)
    first = value_ns(problem, schedule, objective)
    for number, (low, high) in enumerate(_windows(schedule, 3)[1:]):
        devices = None if number % 2 else frozenset({number // 2 % len(problem.devices)})
        moved = moves.make(schedule, Move(low, high, devices, equal), (2.0, number), lambda: False)
        if moved.orders is None:
            assert not equal or moved.proved_useless
            continue
        better = accepted(problem, moved.orders, objective)
        before, after = (value_ns(problem, s, objective) for s in (schedule, better))
        assert after <= before
        assert equal or after < before
        if devices is not None:
            kept = [row for row in range(len(problem.devices)) if row not in devices]
            assert all(np.array_equal(moved.orders.sequences[row], schedule.orders.sequences[row]) for row in kept)
        schedule = better
    assert value_ns(problem, schedule, objective) <= first


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_window_over_everything_ends_at_the_optimum(name: str) -> None:
    problem = PROBLEMS[name]
    schedule, moves = _poor(problem, Objective.MAKESPAN), Moves(problem, Objective.MAKESPAN)
    proved = improve(problem, Objective.MAKESPAN, schedule, 0, ModelLimits(time_s=30.0))
    assert proved.status == "optimal"
    while True:
        whole = Move(0, makespan_ns(schedule) + 1, None, equal=False)
        moved = moves.make(schedule, whole, (30.0, 0), lambda: False)
        if moved.orders is None:
            break
        schedule = accepted(problem, moved.orders)
    assert moved.proved_useless
    assert makespan_ns(schedule) == proved.bound_ns


def test_a_stop_request_ends_a_move_before_it_begins() -> None:
    problem = PROBLEMS["uniform"]
    schedule = _poor(problem, Objective.MAKESPAN)
    whole = Move(0, makespan_ns(schedule) + 1, None, equal=True)
    moved = Moves(problem, Objective.MAKESPAN).make(schedule, whole, (30.0, 0), lambda: True)
    assert moved.orders is None
    assert not moved.proved_useless
