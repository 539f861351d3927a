from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.building import problem

from crosspipe.bounds.bound import Bound
from crosspipe.families.one_f_one_b import split_one_f_one_b
from crosspipe.families.registry import Family
from crosspipe.schedule.replay import replay
from crosspipe.search.clock import Clock
from crosspipe.search.incumbents import Board, Candidate, SolverContradictionError
from crosspipe.search.progress import Progress, relative_gap

if TYPE_CHECKING:
    from crosspipe.schedule.orders import Schedule

PROBLEM = problem(2, 2)
FAMILY = Family("1F1B split", split_one_f_one_b)


def some_schedule() -> Schedule:
    return replay(PROBLEM, FAMILY.build(PROBLEM))


def bound(value_ns: int) -> Bound:
    return Bound(value_ns, "made up", "here")


def board_of(count: int, news: list[Progress] | None = None) -> Board:
    on_progress = None if news is None else news.append
    return Board([Candidate(PROBLEM) for _ in range(count)], Clock(10), on_progress)


def test_only_better_schedules_are_kept_and_told() -> None:
    news: list[Progress] = []
    board = board_of(1, news)
    (candidate,) = board.candidates
    first, second = some_schedule(), some_schedule()
    board.offer(candidate, first, 10, "first")
    board.offer(candidate, second, 10, "as good")
    board.offer(candidate, second, 11, "worse")
    assert candidate.schedule is first
    assert candidate.source == "first"
    board.offer(candidate, second, 9, "better")
    assert candidate.schedule is second
    assert [(row.value_ns, row.source) for row in news] == [(10, "first"), (9, "better")]
    assert board.history == news


def test_only_higher_bounds_are_kept_and_told() -> None:
    news: list[Progress] = []
    board = board_of(1, news)
    (candidate,) = board.candidates
    for value in (3, 5, 5, 4):
        board.raise_bound(candidate, bound(value))
    assert board.bound_ns == 5
    assert [row.bound_ns for row in news] == [3, 5]


def test_the_bound_over_placements_is_the_lowest_and_unknown_while_one_is() -> None:
    board = board_of(2)
    one, other = board.candidates
    board.raise_bound(one, bound(7))
    assert board.bound is None
    assert board.gap is None
    board.raise_bound(other, bound(4))
    assert board.bound_ns == 4
    board.refute(other)
    assert board.bound_ns == 7
    board.refute(one)
    assert board.bound is None


def test_the_best_of_placements_is_the_lowest_value_the_earlier_at_a_tie() -> None:
    board = board_of(3)
    one, other, third = board.candidates
    assert board.best is None
    board.offer(other, some_schedule(), 8, "x")
    board.offer(one, some_schedule(), 8, "x")
    board.offer(third, some_schedule(), 9, "x")
    assert board.best is one
    assert board.value_ns == 8


def test_a_placement_is_worth_work_while_it_may_beat_the_best_of_all() -> None:
    board = board_of(2)
    one, other = board.candidates
    assert board.worth(one)
    board.raise_bound(one, bound(6))
    board.raise_bound(other, bound(9))
    assert board.worth(one)
    assert board.worth(other)
    board.offer(one, some_schedule(), 9, "x")
    assert board.worth(one)
    assert not board.worth(other)  # at best as good
    board.raise_bound(one, bound(9))
    assert not board.worth(one)


def test_a_bound_above_a_schedule_is_never_passed_on() -> None:
    board = board_of(1)
    (candidate,) = board.candidates
    board.offer(candidate, some_schedule(), 8, "x")
    with pytest.raises(SolverContradictionError, match="9 ns"):
        board.raise_bound(candidate, bound(9))


def test_a_schedule_below_a_bound_is_never_passed_on() -> None:
    board = board_of(1)
    (candidate,) = board.candidates
    board.raise_bound(candidate, bound(8))
    with pytest.raises(SolverContradictionError, match="made up"):
        board.offer(candidate, some_schedule(), 7, "x")


def test_what_has_a_schedule_cannot_be_refuted() -> None:
    board = board_of(1)
    (candidate,) = board.candidates
    board.offer(candidate, some_schedule(), 8, "x")
    with pytest.raises(SolverContradictionError):
        board.refute(candidate)


def test_a_heartbeat_is_told_only_after_silence() -> None:
    news: list[Progress] = []
    board = board_of(1, news)
    board.tell("now")
    board.beat()
    assert len(news) == 1
    board.told_s -= 1.0
    board.beat()
    assert [row.source for row in news] == ["now", "clock"]
    assert len(board.history) == 1  # nothing had changed


@pytest.mark.parametrize(
    ("value", "low", "gap"),
    [(None, 1, None), (1, None, None), (10, 8, 0.2), (10, 10, 0.0), (0, 0, 0.0), (4, 0, 1.0)],
)
def test_the_gap_is_relative_to_the_value_and_unknown_is_null(
    value: int | None, low: int | None, gap: float | None
) -> None:
    assert relative_gap(value, low) == gap
    assert Progress(0.0, value, low, "x").gap == gap
