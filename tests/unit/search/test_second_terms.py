"""Second terms: never at a loss of the first, never worse than without, and least where that is said."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from tests.building import STAGE, problem, spec_data
from tests.golden.compiled import compile_all
from tests.property.brute_force import BruteForce
from tests.property.random_specs import random_spec
from tests.property.tiny_specs import tiny_spec, with_replicas, with_unlike_microbatches
from tests.solving import assert_sound

import crosspipe.search.second_terms as terms
from crosspipe.answer.judge import judge
from crosspipe.answer.models import Answer
from crosspipe.answer.settle import SPOILT
from crosspipe.answer.solve import check, solve
from crosspipe.answer.summary import summary
from crosspipe.answer.verify import verify
from crosspipe.families.portfolio import attempts
from crosspipe.problem.problem import Objective
from crosspipe.schedule.in_flight import in_flight_ns
from crosspipe.schedule.measure import fits, makespan_ns, peaks, span_ns, value_ns
from crosspipe.schedule.replay import replay, resolved
from crosspipe.schedule.shift import Shifted
from crosspipe.schedule.timed import timed
from crosspipe.search.allowance import Allowance
from crosspipe.search.clock import Clock
from crosspipe.search.construct import construct
from crosspipe.search.incumbents import Board, Candidate
from crosspipe.search.memory_share import below, cut, fullest, least_share, next_levels, share_beyond, up_to
from crosspipe.search.options import SolveOptions
from crosspipe.search.peak_share import PeakShare
from crosspipe.search.second_terms import SecondTerms, second_terms

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Orders, Schedule

ENOUGH_S = 60.0

COUNTED_S = 2.0
"""Time limit where work is counted: second terms get 0.3 s of it."""

EVERY_ORDER = range(16)
UNLIKE = range(100, 108)
INDEX_ORDER = range(300, 310)
SPAN = range(400, 406)
REPLICAS = range(500, 504)
TINY = [*EVERY_ORDER, *UNLIKE, *INDEX_ORDER, *SPAN, *REPLICAS]

ROOMY: dict[str, Any] = {
    "model": {"stages": STAGE | {"count": 2, "activation_mb": 1000}},
    "training": {"microbatches": 8},
    "sites": {"a": {"devices": 2, "memory_gb": 10}},
}
"""Two microbatches in flight on the first device are as good as any number."""


def _tiny(seed: int) -> dict[str, Any]:
    spec = tiny_spec(seed, devices=2, most_microbatches=3 if seed in INDEX_ORDER else 2, windows=seed not in SPAN)
    if seed in UNLIKE:
        spec = with_unlike_microbatches(spec, seed)
    if seed in REPLICAS:
        spec = with_replicas(tiny_spec(seed, devices=2, most_microbatches=1))
    # Some room, so that there is something to gain.
    for site in spec["sites"].values():
        site["memory_gb"] = round(site["memory_gb"] + 0.002, 6)
    return spec


def _least(problem: Problem, seed: int) -> int | None:
    return BruteForce(problem, seed in INDEX_ORDER, span=seed in SPAN).solve()


def _fills_less(problem: Problem, seed: int, value: int, share: Fraction) -> bool:
    """Whether some schedule of the value fills less than this share of its fullest device, by trying every order."""
    least = _least(cut(problem, below(problem, share)), seed)
    return least is not None and least <= value


def _board(problem: Problem, options: SolveOptions) -> Board:
    board = Board([Candidate(problem)], Clock(options.time_limit_s))
    construct(board, board.candidates[0], options)
    return board


@cache
def _found(seed: int) -> tuple[Problem, int | None, SecondTerms | None]:
    objective = Objective.SPAN if seed in SPAN else Objective.MAKESPAN
    options = SolveOptions(objective=objective, time_limit_s=COUNTED_S, deterministic=True)
    (compiled,) = compile_all(_tiny(seed))
    board = _board(compiled, options)
    return compiled, board.value_ns, second_terms(board, options, searched=True)


@pytest.mark.parametrize("seed", TINY)
def test_what_is_called_the_least_share_is_what_trying_every_order_finds(seed: int) -> None:
    compiled, value, found = _found(seed)
    if value is None:
        assert found is None
        return
    assert found is not None
    assert found.full is not None
    assert found.share_lower is not None
    assert not _fills_less(compiled, seed, value, found.share_lower)
    if found.share_proved:
        assert found.share_lower == found.full.share
    else:
        assert found.share_lower < found.full.share


def test_most_of_them_are_proved() -> None:
    found = [terms for seed in TINY if (terms := _found(seed)[2]) is not None]
    assert sum(terms.share_proved for terms in found) >= 0.8 * len(found)


@pytest.mark.parametrize(
    ("seed", "objective"),
    [(seed, Objective.MAKESPAN) for seed in range(24)] + [(seed, Objective.SPAN) for seed in range(30, 42)],
)
def test_nothing_is_worse_than_without(seed: int, objective: Objective) -> None:
    options = SolveOptions(objective=objective, time_limit_s=COUNTED_S, deterministic=True)
    for compiled in compile_all(random_spec(seed)):
        board = _board(compiled, options)
        (best,) = board.candidates
        before, value = best.schedule, best.value_ns
        found = second_terms(board, options, searched=True)
        if before is None or value is None:
            assert found is None
            continue
        assert found is not None
        after = best.schedule
        assert after is not None
        whole = resolved(compiled, after.orders)
        reached = value_ns(whole, after, objective)
        assert best.value_ns == reached
        assert reached <= value
        judge(compiled, after, makespan_ns(after), span_ns(whole, after))
        assert value_ns(whole, timed(compiled, after.orders, objective), objective) == best.value_ns
        assert found.full == fullest(whole, after)
        assert found.in_flight_ns == in_flight_ns(compiled, after)
        _no_worse(compiled, before, found)
        assert found.in_flight_lower_ns is None or found.in_flight_lower_ns <= found.in_flight_ns


def _no_worse(problem: Problem, before: Schedule, found: SecondTerms) -> None:
    full = fullest(resolved(problem, before.orders), before)
    if full is None:
        assert found.full is None
        assert found.in_flight_ns <= in_flight_ns(problem, before)
        return
    assert found.full is not None
    assert found.full.share <= full.share
    assert found.share_lower is None or found.share_lower <= found.full.share
    if found.full.share == full.share:
        assert found.in_flight_ns <= in_flight_ns(problem, before)


def test_memory_that_the_value_does_not_need_is_left_free() -> None:
    answer = solve(ROOMY, time_limit_s=ENOUGH_S)
    assert_sound(ROOMY, answer)
    assert answer.status == "optimal"
    assert answer.second_terms is not None
    share = answer.second_terms.peak_share
    assert share is not None
    assert share.proved
    assert share.share == share.lower_bound == 0.2
    assert (share.device, share.peak_memory_mb, share.memory_mb) == ("a/0", 2000.0, 10000.0)
    assert share.peak_memory_mb == max(device.peak_memory_mb for device in answer.devices)
    (line,) = [line for line in summary(answer) if line.startswith("second")]
    assert "20.00 % of the fullest device's memory, the least for this value" in line


def test_a_smaller_value_that_turns_up_is_kept() -> None:
    (compiled,) = compile_all(ROOMY)
    slow = max(
        (timed(compiled, a.orders, Objective.MAKESPAN) for a in attempts(compiled, Objective.MAKESPAN) if a.orders),
        key=makespan_ns,
    )
    search = PeakShare(compiled, Objective.MAKESPAN, (slow, "slow"), Allowance(Clock(ENOUGH_S), ENOUGH_S), 0)
    search.run([])
    assert search.value_ns == makespan_ns(search.schedule) <= makespan_ns(slow)
    assert fits(compiled, search.schedule)


def test_the_value_told_is_that_of_the_schedule_also_where_it_has_become_smaller() -> None:
    """Where the best was not found before, a swap or a pass within less memory may shorten the step."""
    smaller = 0
    for seed, objective in product(range(12), Objective):
        for compiled in compile_all(random_spec(seed)):
            options = SolveOptions(objective=objective, time_limit_s=COUNTED_S, deterministic=True)
            candidate = Candidate(compiled)
            board = Board([candidate], Clock(COUNTED_S))
            for orders in _worst(compiled, objective):
                schedule = timed(compiled, orders, objective)
                value = value_ns(resolved(compiled, orders), schedule, objective)
                board.offer(candidate, schedule, value, "first")
                assert second_terms(board, options, searched=True) is not None
                after = candidate.schedule
                assert after is not None
                assert candidate.value_ns == value_ns(resolved(compiled, after.orders), after, objective)
                smaller += candidate.value_ns != value
    assert smaller > 0


def _worst(problem: Problem, objective: Objective) -> list[Orders]:
    """The orders of largest value among a few passes of the greedy; none where none fits."""
    passes = [a for a, _ in zip(attempts(problem, objective), range(8), strict=False) if a.value_ns is not None]
    last = sorted(passes, key=lambda attempt: attempt.value_ns or 0)[-1:]
    return [attempt.orders for attempt in last if attempt.orders is not None]


def test_without_a_limit_there_is_no_share() -> None:
    spec = spec_data(2, 4)
    answer = solve(spec, time_limit_s=ENOUGH_S)
    assert answer.second_terms is not None
    assert answer.second_terms.peak_share is None
    assert answer.second_terms.notes == []
    assert answer.second_terms.in_flight_time.least_in_orders


def test_one_microbatch_is_held_for_its_round_trips_which_is_proved() -> None:
    answer = solve(spec_data(2, 1), time_limit_s=0)
    assert answer.second_terms is not None
    flight = answer.second_terms.in_flight_time
    assert flight.proved
    # F, B and W of 1 ms on two stages: 5 ms on the first, 3 ms on the second.
    assert flight.value_ms == flight.lower_bound_ms == 8.0


def test_an_answer_from_before_them_is_still_read() -> None:
    document = json.loads(solve(ROOMY, time_limit_s=0).model_dump_json())
    del document["second_terms"]
    assert check(ROOMY, document).ok
    assert verify(ROOMY, document).ok
    assert Answer.model_validate(document).second_terms is None


def test_without_time_only_delays_are_looked_for() -> None:
    answer = solve(ROOMY, time_limit_s=0)
    assert answer.second_terms is not None
    assert answer.second_terms.notes == ["share of memory not tried: no time was left"]
    assert answer.second_terms.peak_share is not None
    assert answer.second_terms.peak_share.lower_bound is None
    assert not answer.second_terms.peak_share.proved
    assert answer.second_terms.in_flight_time.least_in_orders


def test_a_stop_request_ends_them_at_once() -> None:
    answer = solve(ROOMY, time_limit_s=ENOUGH_S, should_stop=lambda: True)
    assert_sound(ROOMY, answer)
    assert answer.second_terms is not None
    assert answer.second_terms.notes == ["not tried: stopped"]
    assert answer.second_terms.in_flight_time.lower_bound_ms is None
    assert not answer.second_terms.in_flight_time.least_in_orders


def test_a_schedule_that_they_spoil_is_replaced_by_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(_: Problem, schedule: Schedule, *more: object) -> Schedule:
        assert len(more) == 2
        early = schedule.start_ns.copy()
        early[1] = 0
        return replace(schedule, start_ns=early, end_ns=schedule.end_ns - schedule.start_ns + early)

    def as_it_is(problem: Problem, schedule: Schedule, *_: object) -> Shifted:
        return Shifted(schedule, in_flight_ns(problem, schedule), least=False)

    monkeypatch.setattr(terms, "give_back_sooner", spoil)
    monkeypatch.setattr(terms, "hold_shorter", as_it_is)
    answer = solve(ROOMY, time_limit_s=ENOUGH_S)
    assert_sound(ROOMY, answer)
    assert answer.second_terms is not None
    assert answer.second_terms.notes == [SPOILT]
    assert answer.provenance.solver[-1].startswith(SPOILT)
    assert answer.provenance.schedule_from == next(
        row.name for row in answer.families if row.value_ms == answer.objective.value_ms
    )


def test_large_problems_are_only_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "LARGE", 10)
    answer = solve(ROOMY, time_limit_s=ENOUGH_S)
    assert answer.second_terms is not None
    assert answer.second_terms.notes == [terms.TOO_LARGE]
    assert answer.second_terms.peak_share is not None


def test_counted_work_gives_the_same_again() -> None:
    stages = [STAGE | {"activation_mb": 1000, "backward_weight_ms": weight} for weight in (1, 3, 2)]
    spec = spec_data(stages, 8, sites={"a": {"devices": 3, "memory_gb": 9, "hop_latency_ms": 1}})
    options = SolveOptions(time_limit_s=COUNTED_S, deterministic=True)
    (compiled,) = compile_all(spec)
    found = []
    for _ in range(2):
        board = _board(compiled, options)
        outcome = second_terms(board, options, searched=True)
        schedule = board.candidates[0].schedule
        assert schedule is not None
        found.append((outcome, schedule.start_ns.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(30))
def test_what_a_device_holds_at_its_peak_is_among_the_levels(seed: int) -> None:
    for compiled in compile_all(random_spec(seed)):
        for attempt, _ in zip(attempts(compiled, Objective.MAKESPAN), range(4), strict=False):
            if attempt.orders is None or attempt.value_ns is None:
                continue
            whole = resolved(compiled, attempt.orders)
            held = peaks(whole, replay(compiled, attempt.orders))
            tight = {pool: held[pool].amount - 1 for pool in up_to(whole, Fraction(1))}
            assert list(next_levels(whole, tight)) == [held[pool].amount for pool in tight]
            assert list(next_levels(compiled, tight)) <= [held[pool].amount for pool in tight]


def test_shares_are_counted_exactly() -> None:
    compiled = problem([STAGE | {"static_mb": 1}, STAGE], 4, sites={"a": {"devices": 2, "memory_gb": 0.003}})
    assert least_share(compiled) == Fraction(2, 3)
    assert up_to(compiled, Fraction(2, 3)) == {0: 2 * 10**6, 1: 2 * 10**6}
    assert below(compiled, Fraction(2, 3)) == {0: 2 * 10**6 - 1, 1: 2 * 10**6 - 1}
    assert next_levels(compiled, {0: 10**6, 1: 10**6}) == (2 * 10**6, 2 * 10**6)
    assert next_levels(compiled, {0: 0, 1: 0}) == (10**6, 10**6)
    assert share_beyond(compiled, {0: 2 * 10**6, 1: 10**6}) == Fraction(2, 3)
    less = cut(compiled, {0: 2 * 10**6})
    assert [pool.capacity for pool in less.pools] == [2 * 10**6, 3 * 10**6]
    assert replace(less, pools=compiled.pools).pools == compiled.pools
