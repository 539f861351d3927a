"""What the answer says of replicas on one link."""

from __future__ import annotations

from typing import Any

import pytest

from crosspipe import solve
from crosspipe.answer.summary import summary


def spec(mode: str, **more: Any) -> dict[str, Any]:
    return {
        "model": {
            "stages": {
                "count": 2,
                "forward_ms": 10,
                "backward_input_ms": 10,
                "backward_weight_ms": 10,
                "boundary_mb": 10,
            }
        },
        "training": {"microbatches": 1},
        "parallel": {"data": 2, "replica_messages": mode},
        "sites": {"a": {"devices": 1}, "b": {"devices": 1}},
        "links": [{"between": ["a", "b"], "bandwidth_gbps": 8}],
        **more,
    }


@pytest.mark.parametrize("mode", ["merged", "separate"])
def test_taking_turns_beats_one_message_of_twice_the_size(mode: str) -> None:
    # A message takes 10 ms. Merged: F 10, 20 on the link, F 10, B 10, 20 back, B 10, W 10 = 90. Taking turns the second
    # replica gets its activation at 30 and its gradient back at 60: F to 40, B to 50, link to 60, B and W to 80.
    answer = solve(spec(mode), time_limit_s=5)
    told = answer.replica_messages
    assert told is not None
    assert answer.status == "optimal"
    assert answer.makespan_ms == {"merged": 90, "separate": 80}[mode]
    assert (told.searched, told.merged_ms, told.separate_ms, told.better) == (mode, 90, 80, "separate")
    assert told.gain == pytest.approx(1 / 9)
    assert told.merged_lower_bound_ms <= 90
    assert told.separate_lower_bound_ms <= 80
    assert told.proved == (told.merged_lower_bound_ms > 80)
    assert any("taking turns 80.0 ms, merged 90.0 ms: 11.11 % less" in line for line in summary(answer))


def test_nothing_to_compare_without_replicas_on_a_shared_link() -> None:
    own = [{"between": ["a", "b"], "bandwidth_gbps": 8, "per_replica": True}]
    assert solve(spec("separate", links=own), time_limit_s=5).replica_messages is None
    assert solve(spec("merged", parallel={"data": 1}), time_limit_s=5).replica_messages is None


def test_a_lane_that_closes_before_small_messages_are_through() -> None:
    """One of 20 MB takes 11 ms, two of 10 MB take 20: what merged ones do before the link closes, these may not."""
    link = {"between": ["a", "b"], "transfer_table": [[10, 10], [20, 11]], "closed_ms": [[76, None]]}
    training = {"microbatches": 2}
    merged = solve(spec("merged", links=[link], training=training), time_limit_s=5)
    assert merged.makespan_ms is not None
    separate = solve(spec("separate", links=[link], training=training), time_limit_s=5)
    assert separate.status == "infeasible"


def test_replicas_apart_start_from_the_best_merged_schedule() -> None:
    stages = {"count": 4, "forward_ms": 10, "backward_input_ms": 10, "backward_weight_ms": 6, "boundary_mb": 4}
    memory = {"activation_mb": 100, "retained_mb": 60}
    given = spec(
        "merged",
        model={"stages": stages | memory},
        training={"microbatches": 8},
        parallel={"data": 3},
        sites={"a": {"devices": 2, "memory_gb": 0.4}, "b": {"devices": 2, "memory_gb": 0.4}},
        links=[{"between": ["a", "b"], "bandwidth_gbps": 8, "one_way_latency_ms": 12}],
    )
    merged = solve(given, time_limit_s=10)
    apart = solve(given | {"parallel": {"data": 3, "replica_messages": "separate"}}, time_limit_s=6)
    told = apart.replica_messages
    assert merged.status == "optimal"
    assert told is not None
    assert apart.makespan_ms is not None
    assert merged.makespan_ms is not None
    assert apart.makespan_ms <= merged.makespan_ms == told.merged_ms == told.merged_lower_bound_ms
