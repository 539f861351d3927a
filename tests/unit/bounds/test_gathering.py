"""Extra operations wait for, and hold up, whole loads of a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.unit.bounds.specs import pipeline, split

from crosspipe.bounds.best import all_bounds, lower_bound
from crosspipe.bounds.graph import graph_of
from crosspipe.bounds.timing import timing

if TYPE_CHECKING:
    from crosspipe.bounds.bound import Bound
    from crosspipe.problem.problem import Problem

MS = 10**6
LANE = {"group": "ring"}


def with_extra(extra: dict[str, Any], devices: int = 1, microbatches: int = 3) -> Problem:
    """Three microbatches of 2/2/2 ms on each device; latency 1 ms between devices."""
    links = [{"between": [f"d{a}", f"d{a + 1}"], "one_way_latency_ms": 1} for a in range(devices - 1)]
    extras = [{"name": "extra", "duration_ms": 5} | extra]
    return pipeline([split(2, 2, 2)] * devices, microbatches, links=[*links, LANE], extra_operations=extras)


def extra_times(problem: Problem) -> tuple[int, int]:
    times = timing(graph_of(problem))
    number = problem.extras[0][1]
    return int(times.head[number]), int(times.tail[number])


def test_what_comes_after_a_stage_waits_for_all_its_work() -> None:
    """The longest path to it is three F, one B, one W: 10 ms; the device works 18."""
    assert extra_times(with_extra({"after": [0]})) == (18 * MS, 0)


def test_what_comes_before_a_stage_has_all_its_work_behind_it() -> None:
    problem = with_extra({"before": [0]})
    assert extra_times(problem) == (0, 18 * MS)
    assert lower_bound(problem).value_ns == 23 * MS


def test_heads_of_the_load_count() -> None:
    """Device 1 starts at 3 and works 18 ms."""
    assert extra_times(with_extra({"after": [1]}, devices=2)) == (21 * MS, 0)


def test_tails_of_the_load_count() -> None:
    """Behind the first F of device 1: its 18 ms, the last of them or the way back through device 0."""
    _, tail = extra_times(with_extra({"before": [1]}, devices=2))
    # Once B of the last microbatch has ended on device 1, 1 + 2 + 2 ms follow on device 0; 3 x W can wait until then.
    assert tail == 18 * MS


def test_loads_of_extra_operations_share_a_lane() -> None:
    """Device 0 has B and W left to do from 8 ms on, 12 ms of them; device 1 is done no earlier than 21."""
    extras: list[dict[str, Any]] = [
        {"name": f"reduce {stage}", "duration_ms": 7, "after": [stage], "lane": "ring/out"} for stage in range(2)
    ]
    links = [{"between": ["d0", "d1"], "one_way_latency_ms": 1}, LANE]
    problem = pipeline([split(2, 2, 2)] * 2, 3, links=links, extra_operations=extras)
    lane = _lane_load(problem)
    assert (lane.where, lane.data["head_ns"], lane.data["work_ns"]) == ("ring/out", 20 * MS, 14 * MS)


def test_all_gathers_of_a_lane_come_before_the_backwards_and_all_reduces_behind() -> None:
    """Two gathers of 20 ms, B of stage 1 at 40 at the earliest, 3 B and 3 W until 52, then two reduces of 20."""
    extras: list[dict[str, Any]] = []
    for stage in range(2):
        extras.append({"name": f"gather {stage}", "duration_ms": 20, "before": [stage], "lane": "ring/out"})
        extras.append({"name": f"reduce {stage}", "duration_ms": 20, "after": [stage], "lane": "ring/out"})
    links = [{"between": ["d0", "d1"], "one_way_latency_ms": 1}, LANE]
    lane = _lane_load(pipeline([split(2, 2, 2)] * 2, 3, links=links, extra_operations=extras))
    assert (lane.data["head_ns"], lane.data["work_ns"], lane.value_ns) == (52 * MS, 40 * MS, 92 * MS)


def _lane_load(problem: Problem) -> Bound:
    (found,) = (bound for bound in all_bounds(problem) if bound.name == "lane load")
    return found
