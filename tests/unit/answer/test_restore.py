"""From an answer's JSON back to problem and schedule, and the judgement of schedules by others."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.building import STAGE, problem, spec_data
from tests.property.random_specs import random_spec

from crosspipe.answer.judge import RejectedAnswerError, judge, placed_of
from crosspipe.answer.restore import InvalidScheduleError, restore
from crosspipe.answer.solve import check, solve
from crosspipe.errors import ScheduleFormatError
from crosspipe.families.one_f_one_b import split_one_f_one_b
from crosspipe.families.registry import Family
from crosspipe.schedule.measure import makespan_ns, span_ns
from crosspipe.schedule.orders import Schedule
from crosspipe.schedule.replay import replay

SPEC = spec_data(
    3,
    4,
    links=[{"between": ["a/0", "a/1"], "bandwidth_gbps": 8, "one_way_latency_ms": 1}],
    model={"stages": [STAGE | {"boundary_mb": 2}] * 3},
)


def document(spec: dict[str, Any], **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(solve(spec, **({"time_limit_s": 0} | options)).model_dump_json())
    return found


@pytest.mark.parametrize("seed", range(0, 40, 2))
@pytest.mark.parametrize("objective", ["makespan", "span"])
def test_the_times_are_those_of_the_answer(seed: int, objective: str) -> None:
    spec = random_spec(seed)
    answer = document(spec, objective=objective)
    given, schedule = restore(spec, answer)
    assert makespan_ns(schedule) == round(answer["makespan_ms"] * 10**6)
    assert span_ns(given, schedule) == round(answer["span_ms"] * 10**6)
    placed, _ = placed_rows(answer)
    names, ops = {number: name for name, number in given.extras}, given.operations
    for number in given:
        label = f"{ops.kind[number]} {ops.stage[number]} {ops.microbatch[number]} {ops.replica[number]}"
        row = (names.get(number, label), int(schedule.start_ns[number]), int(schedule.end_ns[number]))
        assert row in placed


def placed_rows(answer: dict[str, Any]) -> tuple[set[tuple[str, int, int]], int]:
    """Every row of an answer, read without the library's reader: what it is, start and end in nanoseconds."""
    kinds = {"F": 0, "B": 1, "W": 2, "BW": 3, "activation": 4, "gradient": 5}
    rows: set[tuple[str, int, int]] = set()
    for place in (*answer["devices"], *answer["transfers"]):
        table = place["operations"]
        for i, kind in enumerate(table["kind"]):
            replica = table["replica"][i] if "replica" in table else place["replica"]
            name = table["name"][i] if kind == "extra" else None
            label = name or f"{kinds[kind]} {table['stage'][i]} {table['microbatch'][i]} {replica}"
            rows.add((label, round(table["start_ms"][i] * 10**6), round(table["end_ms"][i] * 10**6)))
    for extra in answer["extra_operations"]:
        rows.add((extra["name"], round(extra["start_ms"] * 10**6), round(extra["end_ms"] * 10**6)))
    return rows, len(rows)


@pytest.mark.parametrize("seed", range(1, 40, 2))
def test_the_orders_replayed_give_no_later_times(seed: int) -> None:
    """The orders are consistent: they do not wait for each other, and nothing can only end later by them."""
    spec = random_spec(seed)
    given, schedule = restore(spec, document(spec))
    again = replay(given, schedule.orders)
    assert (again.end_ns <= schedule.end_ns).all()


def test_operations_without_length_are_put_in_the_order_of_need() -> None:
    """Backwards that take no time, gradients that take none to come: on one device all share a moment."""
    nothing = {"forward_ms": 1, "backward_input_ms": 0, "backward_weight_ms": 0, "activation_mb": 1}
    spec = spec_data([nothing] * 4, 3, sites={"a": {"devices": 2}}, placement={"traversal": "wave"})
    given, schedule = restore(spec, document(spec))
    again = replay(given, schedule.orders)
    assert makespan_ns(again) == makespan_ns(schedule)


def rows_of(answer: dict[str, Any]) -> dict[str, Any]:
    """The schedule of an answer as rows without ends."""
    return {
        "operations": [
            [kind, table["stage"][i], table["microbatch"][i], 0, table["start_ms"][i]]
            for place in (*answer["devices"], *answer["transfers"])
            for table in [place["operations"]]
            for i, kind in enumerate(table["kind"])
        ]
    }


def test_an_end_left_out_is_the_one_that_a_slower_lane_implies() -> None:
    slow = {"between": ["a/0", "a/1"], "bandwidth_gbps": 8, "slow_ms": [[0, 50, 2]]}
    spec = SPEC | {"links": [slow]}
    answer = document(spec)
    (_, whole), (given, rows) = restore(spec, answer), restore(spec, rows_of(answer))
    assert (whole.end_ns == rows.end_ns).all()
    assert (rows.end_ns - rows.start_ns > given.operations.duration_ns).any()


def test_times_that_cannot_be_computed_with_are_said_to_be_so() -> None:
    answer = rows_of(document(spec_data(1, 1)))
    for row in answer["operations"]:
        row[4] = int(row[4]) + 10**17
    assert check(spec_data(1, 1), answer).ok
    with pytest.raises(InvalidScheduleError, match="lasts"):
        restore(spec_data(1, 1), answer)


def test_an_answer_names_the_placement_it_is_for() -> None:
    spec = spec_data(4, 4, sites={"a": {"devices": 2, "hop_latency_ms": 5}})
    answer = document(spec, deterministic=True)
    assert answer["traversal"] == "wave"
    assert restore(spec, answer)[0].traversal == "wave"
    assert check(spec, answer).ok
    assert not check(spec, answer | {"traversal": "loop"}).ok


def test_a_summary_holds_no_schedule_and_says_so() -> None:
    with pytest.raises(ScheduleFormatError) as raised:
        restore(SPEC, document(SPEC, detail="summary"))
    assert raised.value.faults[0].pointer == "/devices/0/operations"


def test_a_broken_schedule_is_not_restored_but_judged() -> None:
    answer = document(SPEC)
    times = answer["devices"][0]["operations"]
    times["start_ms"][0] += 1
    times["end_ms"][0] += 1
    with pytest.raises(InvalidScheduleError, match="breaks rules"):
        restore(SPEC, answer)
    result = check(SPEC, answer)
    assert not result.ok
    assert {violation.kind for violation in result.violations} <= {"dependency", "overlap_device"}
    assert all(violation.message for violation in result.violations)


def test_a_schedule_of_another_spec_is_refused() -> None:
    result = check(SPEC | {"training": {"microbatches": 5}}, document(SPEC))
    assert not result.ok
    assert "missing" in {violation.kind for violation in result.violations}
    assert result.makespan_ms is None


def test_the_row_form_is_judged_too() -> None:
    spec = spec_data(1, 1)
    rows = [["F", 0, 0, 0, 0], ["B", 0, 0, 0, 1, 2], ["W", 0, 0, 0, 2.5]]
    result = check(spec, {"operations": rows})
    assert result.ok
    assert (result.makespan_ms, result.span_ms) == (3.5, 3.5)


@pytest.mark.parametrize(
    "nonsense", [None, 5, "text", [], {}, {"devices": 3}, {"operations": [["F"]]}, {"operations": [["Q", 0, 0, 0, 0]]}]
)
def test_nonsense_is_refused_as_a_schedule(nonsense: Any) -> None:
    for use in (check, restore):
        with pytest.raises(ScheduleFormatError) as raised:
            use(SPEC, nonsense)
        assert raised.value.faults


def made() -> tuple[Any, Schedule]:
    given = problem(2, 3)
    return given, replay(given, Family("1F1B split", split_one_f_one_b).build(given))


def test_our_own_schedules_are_judged_before_they_leave() -> None:
    given, schedule = made()
    report = judge(given, schedule, makespan_ns(schedule), span_ns(given, schedule))
    assert report.ok
    assert len(placed_of(given, schedule)) == len(given.operations)
    with pytest.raises(RejectedAnswerError, match="claimed were"):
        judge(given, schedule, makespan_ns(schedule) - 1, span_ns(given, schedule))
    with pytest.raises(RejectedAnswerError, match="claimed were"):
        judge(given, schedule, makespan_ns(schedule), span_ns(given, schedule) - 1)


def test_a_schedule_of_our_own_that_breaks_a_rule_never_leaves() -> None:
    given, schedule = made()
    early = Schedule(np.zeros_like(schedule.start_ns), schedule.end_ns - schedule.start_ns, schedule.orders)
    with pytest.raises(RejectedAnswerError, match="breaks rules"):
        judge(given, early, makespan_ns(early), span_ns(given, early))
