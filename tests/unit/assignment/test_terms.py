"""What one stage says of the makespan: each term where it is the largest."""

from __future__ import annotations

import numpy as np
from tests.unit.assignment.opened import opened

from crosspipe.assignment.terms import least_makespan, least_of_runs


def _least(head: int, tail: int, trip: int, in_flight: int, held: int) -> int:
    """Four microbatches with F = 2, B = 3, W = 1."""
    numbers = [np.array(value) for value in (head, head + tail, trip, 2, 3, 1, 24, in_flight, held)]
    h, both, trips, f, b, w, load, c, k = numbers
    return int(least_makespan(h, both, trips, (f, b, w), load, (c, k), 4))


def test_a_stage_alone_takes_its_load() -> None:
    assert _least(0, 0, 0, 4, 4) == 24


def test_all_work_comes_after_the_head() -> None:
    assert _least(7, 0, 0, 4, 4) == 31


def test_the_tail_follows_all_but_the_last_weight_passes() -> None:
    assert _least(0, 50, 0, 4, 4) == 4 * (2 + 3) + 50
    assert _least(0, 50, 0, 4, 1) == 4 * (2 + 3) + 3 + 50


def test_with_one_in_flight_every_round_trip_waits_for_the_one_before() -> None:
    assert _least(0, 0, 100, 1, 4) == 4 * (2 + 100 + 3)
    assert _least(0, 0, 100, 2, 4) == 2 * (2 + 100 + 3)


def test_a_run_that_holds_until_its_weight_pass_waits_for_that_as_well() -> None:
    assert _least(0, 0, 100, 1, 1) == 4 * (2 + 100 + 3 + 1)


def test_an_assignment_takes_its_way_there_and_back() -> None:
    run = opened().space.run(0, 1, 0, "none")
    assert least_of_runs([run, run], [(10_000_000, 20_000_000)], 1, trains=True) == 39_000_000
