"""`explain`: path, waits, bottleneck and helps of schedules that can be worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.accounts.accounting import LAYERS, TWO, account, idle

from crosspipe import Account, explain, solve
from crosspipe.errors import OptionError, ScheduleFormatError


def test_the_critical_path_of_one_microbatch() -> None:
    found = account(TWO)
    assert found.makespan_ms == 18
    told = [(step.kind, step.where, step.end_ms - step.start_ms) for step in found.path]
    assert told == [
        ("F", "a/0", 1),
        ("transfer", "a-b/out", 1),
        ("latency", "a-b", 5),
        ("F", "b/0", 1),
        ("BW", "b/0", 2),
        ("transfer", "a-b/back", 1),
        ("latency", "a-b", 5),
        ("BW", "a/0", 2),
    ]
    latency = next(part for part in found.path_parts if part.kind == "latency")
    assert (latency.ms, latency.count) == (10, 2)
    assert latency.share == pytest.approx(10 / 18)


def test_what_each_device_waits_for() -> None:
    first, second = account(TWO).devices
    assert idle(first) == {
        ("latency", "a-b"): 5,
        ("transfer", "a-b/back"): 1,
        ("upstream", "b/0"): 9,
    }
    assert idle(second) == {("warm_up", ""): 7, ("cool_down", ""): 8}


def test_waits_for_room() -> None:
    tight = TWO | {
        "training": {"microbatches": 2},
        "sites": {"a": {"devices": 1, "memory_gb": 0.1}, "b": {"devices": 1, "memory_gb": 1}},
    }
    found = account(tight)
    assert idle(found.devices[0])["memory", "memory"] == 15
    memory = next(row for row in found.helps if row.what == "memory")
    # Two round trips of 18 ms one after the other; with room the second is 3 ms behind the first.
    assert (memory.value_ms, memory.lower_bound_ms) == (21, 21)
    assert "devices wait 15.0 ms in all for room" in memory.evidence


def test_waits_for_a_cap_in_flight() -> None:
    capped = TWO | {"training": {"microbatches": 2}, "limits": {"in_flight": 1}}
    assert ("memory", "in flight on stage 0") in idle(account(capped).devices[0])


def test_waits_in_the_queue_of_a_lane() -> None:
    slow = TWO | {
        "training": {"microbatches": 4},
        "links": [{"between": ["a", "b"], "bandwidth_gbps": 100, "duplex": "half"}],
    }
    waits = [key for device in account(slow).devices for key in idle(device)]
    assert any(kind in ("queue", "transfer") and where == "a-b" for kind, where in waits)


def test_waits_for_a_closed_lane() -> None:
    closed = TWO | {
        "links": [
            {"between": ["a", "b"], "bandwidth_gbps": 1000, "one_way_latency_ms": 5, "closed_ms": [[1, 4], [11, 13]]}
        ]
    }
    found = account(closed)
    assert [(step.start_ms, step.end_ms) for step in found.path if step.kind == "closed"] == [(1, 4)]
    # The gradient is ready at 13, when the lane is open again.
    assert sum(part.ms for part in found.path_parts if part.kind == "closed") == 3


def test_extra_operations_on_a_device_are_no_work() -> None:
    extra = {"name": "sum", "duration_ms": 3, "device": "a/0", "after": [0, 1]}
    found = account(TWO | {"extra_operations": [extra]})
    assert idle(found.devices[0])["extra", "sum"] == 3
    assert found.path[-1].kind == "extra"


def test_the_bottleneck_and_its_load_against_the_bound() -> None:
    slower = TWO | {"sites": {"a": {"devices": 1}, "b": {"devices": 1, "time_factor": 4}}}
    found = account(slower | {"training": {"microbatches": 8}})
    assert (found.loads[0].resource, found.loads[0].kind, found.loads[0].busy_ms) == ("b/0", "device", 96)
    assert found.lower_bound_ms is not None
    assert found.loads[0].share_of_bound == pytest.approx(96 / found.lower_bound_ms)


def test_helps_are_bounded_from_both_sides() -> None:
    found = account(TWO)
    helps = {row.what: (row.value_ms, row.lower_bound_ms) for row in found.helps}
    assert helps == {"latency": (8, 8), "bandwidth": (16, 16), "memory": (18, 18)}
    assert [row.what for row in found.helps] == ["latency", "bandwidth", "memory"]


def test_a_schedule_that_dawdles_is_told_so() -> None:
    rows: list[list[Any]] = [
        ["F", 0, 0, 0, 0],
        ["activation", 0, 0, 0, 1],
        ["F", 1, 0, 0, 9],
        ["BW", 1, 0, 0, 10],
        ["gradient", 0, 0, 0, 12],
        ["BW", 0, 0, 0, 21],
    ]
    found = explain(TWO, {"operations": rows})
    assert (found.makespan_ms, found.value_ms, found.status) == (23, 23, "feasible")
    assert [(part.kind, part.ms) for part in found.path_parts if part.kind == "delay"] == [("delay", 5)]
    assert all(("delay", "") in idle(device) for device in found.devices)
    assert any("waits longer" in note for note in found.notes)
    assert found.cut is None


def test_an_infeasible_answer_keeps_its_explanation() -> None:
    small = TWO | {"sites": {"a": {"devices": 1, "memory_gb": 0.05}, "b": {"devices": 1}}}
    answer = solve(small, time_limit_s=0)
    found = explain(small, answer)
    assert found.status == "infeasible"
    assert found.explanation == answer.explanation
    assert (found.path, found.devices, found.makespan_ms) == ([], [], None)
    assert explain(small, answer.model_dump()) == found


def test_the_span_is_explained_by_its_makespan() -> None:
    found = account(TWO | {"training": {"microbatches": 3}}, objective="span")
    assert found.objective == "span"
    assert any("span" in note for note in found.notes)


def test_measured_stages_have_no_cut_to_explain() -> None:
    assert account(TWO).cut is None
    assert account(LAYERS).cut is not None


def test_bad_input_is_refused() -> None:
    with pytest.raises(ScheduleFormatError):
        explain(TWO, {})
    with pytest.raises(ScheduleFormatError):
        explain(TWO, [])  # type: ignore[arg-type]  # what an untyped caller may pass
    with pytest.raises(OptionError):
        explain(TWO, solve(TWO, time_limit_s=0), time_limit_s=-1)
    with pytest.raises(ScheduleFormatError):
        explain(TWO, {"status": "infeasible", "explanation": 3})


def test_json_round_trip() -> None:
    found = account(LAYERS)
    assert Account.model_validate_json(found.model_dump_json()) == found
