"""States that a contender tells, and the times read from them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.history import State, first_s, reached_s, running_best, within_s
from bench.measurement import Measurement, combined, with_times

STATES = [
    State(0.5, 120, None, "start"),
    State(0.1, None, 90, "bound"),
    State(1.0, 130, 80, "worse"),
    State(2.0, 101, 100, "better"),
    State(3.0, 101, 101, "proof"),
    State(4.0, 101, 101, "clock"),
]


def test_running_best_orders_by_time_and_keeps_what_betters() -> None:
    best = running_best(STATES)
    assert [(state.seconds, state.value_ns, state.bound_ns) for state in best] == [
        (0.1, None, 90),
        (0.5, 120, 90),
        (2.0, 101, 100),
        (3.0, 101, 101),
    ]


def test_times() -> None:
    best = running_best(STATES)
    assert first_s(best) == 0.5
    assert reached_s(best, 120) == 0.5
    assert reached_s(best, 110) == 2.0
    assert reached_s(best, 100) is None
    assert within_s(best, 0.25) == 0.5
    assert within_s(best, 0.01) == 2.0
    assert within_s(best, 0.0) == 3.0
    assert first_s([]) is None


def test_gap_needs_both_and_is_zero_for_nothing() -> None:
    assert State(0, None, 1, "").gap is None
    assert State(0, 1, None, "").gap is None
    assert State(0, 0, 0, "").gap == 0.0
    assert State(0, 4, 3, "").gap == 0.25


def test_times_of_a_measurement_come_from_its_history() -> None:
    measured = with_times(Measurement("optimal", 101, 101, total_s=4.0).with_history(running_best(STATES)))
    assert (measured.first_s, measured.one_percent_s, measured.proof_s) == (0.5, 2.0, 3.0)


@pytest.mark.parametrize(("status", "proof_s"), [("infeasible", 4.0), ("optimal", 4.0), ("feasible", None)])
def test_a_refutation_is_a_proof(status: str, proof_s: float | None) -> None:
    assert with_times(Measurement(status, total_s=4.0)).proof_s == proof_s


def test_json_round_trip() -> None:
    measured = with_times(
        Measurement("optimal", 101, 101, total_s=4.0, notes={"a": 1}).with_history(running_best(STATES))
    )
    assert Measurement.from_json(measured.to_json()) == measured


def test_combined_takes_medians_of_times_and_the_worst_of_the_rest() -> None:
    run = Measurement("optimal", 100, 100, 0.1, 0.2, 0.3, 0.4, 50.0)
    runs = [
        run,
        replace(run, status="feasible", value_ns=110, first_s=0.3, one_percent_s=None, proof_s=None, total_s=9.0),
        replace(run, first_s=0.2, one_percent_s=0.9, total_s=0.5, peak_mb=70.0),
    ]
    found = combined(runs)
    assert (found.status, found.value_ns, found.bound_ns, found.runs) == ("feasible", 110, 100, 3)
    assert (found.first_s, found.one_percent_s, found.proof_s, found.total_s) == (0.2, 0.9, None, 0.5)
    assert found.peak_mb == 70.0


def test_combined_of_equal_values_keeps_the_smallest_bound() -> None:
    run = Measurement("feasible", 100, 90)
    assert combined([run, replace(run, bound_ns=80), run]).bound_ns == 80
