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
