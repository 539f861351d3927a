"""What an answer says of clock-anchored windows."""

from __future__ import annotations

from typing import Any

from tests.building import STAGE, spec_data

from crosspipe.answer.solve import solve


def _spec(**windows: Any) -> dict[str, Any]:
    link = {"between": ["a", "b"], "bandwidth_gbps": 8, "period_ms": 10, "closed_ms": [[0, 3]]} | windows
    return spec_data(
        [STAGE | {"boundary_mb": 2}, STAGE], 1, sites={"a": {"devices": 1}, "b": {"devices": 1}}, links=[link]
    )


def test_the_worst_phase_of_every_lane_is_told() -> None:
    answer = solve(_spec(anchor="clock"), time_limit_s=0)
    rows = [row.model_dump() for row in answer.worst_phases]
    # Asked for one nanosecond too late to end before the window: 2 - 10^-6 ms of waiting, 3 closed, 2 of transfer.
    told = {"period_ms": 10.0, "phase_ms": 8.000001, "transfer_ms": 2.0, "reserved_ms": 6.999999}
    assert rows == [{"lane": lane} | told for lane in ("a-b/out", "a-b/back")]
    assert {hop.transfer_ms for hop in answer.hops} == {6.999999}


def test_windows_of_the_step_itself_have_no_phase() -> None:
    assert solve(_spec(), time_limit_s=0).worst_phases == []
