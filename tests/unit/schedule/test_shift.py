"""Delayed F's: the least time in flight that the orders allow, by another solver's word, and nothing else changed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from ortools.linear_solver import pywraplp
from tests.building import STAGE, problem
from tests.golden.compiled import compile_all
from tests.property.random_specs import random_spec
from tests.property.tiny_specs import tiny_spec, with_replicas, with_unlike_microbatches

from crosspipe.answer.judge import judge
from crosspipe.families.portfolio import attempts
from crosspipe.problem.operations import NO_DEADLINE, Kind
from crosspipe.problem.problem import Objective
from crosspipe.schedule.in_flight import flights, in_flight_ns, least_in_flight_ns
from crosspipe.schedule.measure import compute_rows, fits, makespan_ns, peaks, span_ns, value_ns
from crosspipe.schedule.replay import replay, resolved
from crosspipe.schedule.shift import hold_shorter
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

MS = 10**6

TINY = range(24)
RANDOM = range(24)


def _spec(name: str, seed: int) -> dict[str, Any]:
    if name == "random":
        return random_spec(seed)
    spec = tiny_spec(seed, devices=2 + seed % 2, most_microbatches=3, chunks=seed % 5 == 0)
    if seed % 4 == 1:
        return with_unlike_microbatches(spec, seed)
    return with_replicas(spec) if seed % 7 == 3 else spec


def _scheduled(problem: Problem, objective: Objective) -> Schedule | None:
    """A schedule of the greedy: that of the third pass that fits, or of the last before."""
    passes = (attempt for attempt, _ in zip(attempts(problem, objective), range(6), strict=False))
    found = [a.orders for a in passes if a.value_ns is not None and a.orders is not None]
    return timed(problem, found[min(2, len(found) - 1)], objective) if found else None


CASES = [("tiny", seed) for seed in TINY] + [("random", seed) for seed in RANDOM]


@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize(("name", "seed"), CASES)
def test_nothing_is_held_shorter_in_these_orders_and_nothing_else_is_lost(
    name: str, seed: int, objective: Objective
) -> None:
    for compiled in compile_all(_spec(name, seed)):
        schedule = _scheduled(compiled, objective)
        if schedule is None:
            continue
        shifted = hold_shorter(compiled, schedule, objective)
        found = shifted.schedule
        assert shifted.least
        assert shifted.in_flight_ns == in_flight_ns(compiled, found)
        assert shifted.in_flight_ns == _least_by_simplex(compiled, schedule, objective)
        assert shifted.in_flight_ns >= least_in_flight_ns(resolved(compiled, schedule.orders))
        assert value_ns(compiled, found, objective) == value_ns(compiled, schedule, objective)
        assert makespan_ns(found) <= makespan_ns(schedule)
        assert fits(compiled, found)
        assert [peak.amount for peak in peaks(compiled, found)] == [peak.amount for peak in peaks(compiled, schedule)]
        judge(compiled, found, makespan_ns(found), span_ns(compiled, found))
        assert (replay(compiled, found.orders).start_ns <= found.start_ns).all()
        again = timed(compiled, found.orders, objective)
        assert value_ns(compiled, again, objective) == value_ns(compiled, schedule, objective)


def _least_by_simplex(problem: Problem, schedule: Schedule, objective: Objective) -> int:
    """The least time in flight with these orders and value, transfers on lanes with windows where they are."""
    problem = resolved(problem, schedule.orders)
    lengths = (schedule.end_ns - schedule.start_ns).tolist()
    solver = pywraplp.Solver.CreateSolver("GLOP")
    latest = makespan_ns(schedule)
    due = [NO_DEADLINE] * len(lengths) if problem.due_ns is None else problem.due_ns.tolist()
    times = [solver.NumVar(0, (min(latest, d) - length) / MS, "") for d, length in zip(due, lengths, strict=True)]
    links = problem.precedences
    for u, v, lag in zip(links.before.tolist(), links.after.tolist(), links.lag_ns.tolist(), strict=True):
        solver.Add(times[v] - times[u] >= (lengths[u] + lag) / MS)
    for sequence in schedule.orders.sequences:
        for u, v in pairwise(sequence.tolist()):
            solver.Add(times[v] - times[u] >= lengths[u] / MS)
    for number, lane in enumerate(problem.lanes, start=len(problem.devices)):
        for operation in problem.by_resource[number].tolist() if lane.windows else []:
            solver.Add(times[operation] == int(schedule.start_ns[operation]) / MS)
    if objective is Objective.SPAN:
        for rows in compute_rows(problem, schedule):
            if len(rows):
                first, last = int(rows[0]), int(rows[-1])
                room = (span_ns(problem, schedule) - lengths[last]) / MS
                solver.Add(times[last] - times[first] <= room)
    if problem.chains_required:
        for chain in problem.chains:
            for u, v in pairwise(chain.tolist()):
                solver.Add(times[v] >= times[u])
    pairs = list(zip(*(numbers.tolist() for numbers in flights(problem)), strict=True))
    solver.Minimize(sum((times[c] + lengths[c] / MS - times[f] for f, c in pairs), start=0.0))
    assert solver.Solve() == pywraplp.Solver.OPTIMAL
    least: float = solver.Objective().Value()
    return round(least * MS)


def _answering(answers: list[bool]) -> Callable[[int], bool]:
    left = iter(answers)
    return lambda _: next(left)


def test_it_ends_when_told_and_is_no_worse_than_before() -> None:
    (compiled,) = compile_all(random_spec(0))
    schedule = _scheduled(compiled, Objective.MAKESPAN)
    assert schedule is not None
    before, least = in_flight_ns(compiled, schedule), hold_shorter(compiled, schedule, Objective.MAKESPAN).in_flight_ns
    for most in range(1, 40):
        answers = [True] * most + [False] * 10**4
        ended = hold_shorter(compiled, schedule, Objective.MAKESPAN, _answering(answers))
        assert least <= ended.in_flight_ns <= before
        judge(compiled, ended.schedule, makespan_ns(ended.schedule), span_ns(compiled, ended.schedule))


def test_a_forward_that_need_not_start_yet_waits() -> None:
    """The first device could start its second F at 1 ms, but the second device has time for it only at 3 ms."""
    stages = [STAGE, STAGE | {"forward_ms": 4}]
    compiled = problem(stages, 2)
    orders = next(a.orders for a in attempts(compiled, Objective.MAKESPAN) if a.orders is not None)
    schedule = timed(compiled, orders, Objective.MAKESPAN)
    shifted = hold_shorter(compiled, schedule, Objective.MAKESPAN)
    second = compiled.number(Kind.F, 0, 1)
    assert shifted.schedule.start_ns[second] > schedule.start_ns[second]
    assert shifted.in_flight_ns < in_flight_ns(compiled, schedule)


@pytest.mark.parametrize(
    ("stage", "closing"),
    [
        (STAGE, Kind.W),
        (STAGE | {"retained_mb": 0}, Kind.B),
        (STAGE | {"activation_mb": 0}, Kind.B),
        (STAGE | {"retained_mb": 0, "backward_extra_mb": 1}, Kind.B),
        ({"forward_ms": 1, "backward_ms": 2, "activation_mb": 1}, Kind.BW),
        ({"forward_ms": 1, "frozen": True, "activation_mb": 1}, Kind.F),
    ],
)
def test_a_flight_ends_where_the_activations_are_wholly_given_back(stage: dict[str, Any], closing: Kind) -> None:
    compiled = problem([stage, STAGE], 1)
    forwards, closes = flights(compiled)
    assert forwards[0] == compiled.number(Kind.F, 0, 0)
    assert closes[0] == compiled.number(closing, 0, 0)


def test_one_microbatch_alone_takes_its_round_trips() -> None:
    compiled = problem(3, 1)
    orders = next(a.orders for a in attempts(compiled, Objective.MAKESPAN) if a.orders is not None)
    schedule = timed(compiled, orders, Objective.MAKESPAN)
    # Three stages of F, B and W of 1 ms: from the first F to the end of the first stage's W it takes 7 ms, then 5, 3.
    assert least_in_flight_ns(compiled) == 15 * MS
    assert hold_shorter(compiled, schedule, Objective.MAKESPAN).in_flight_ns == 15 * MS
