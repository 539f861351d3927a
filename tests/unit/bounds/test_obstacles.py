"""Each obstacle: found where it should be, gone at the smallest sufficient value, back just below it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.bounds.specs import pipeline, problem_of, split

from crosspipe.bounds.memory_need import memory_needs
from crosspipe.bounds.obstacle import amount, listed, ms
from crosspipe.bounds.obstacles import Obstacle, obstacles

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

MS = MB = 10**6


def only(problem: Problem) -> Obstacle:
    (found,) = obstacles(problem)
    return found


def two(link: dict[str, Any], microbatches: int = 2, **more: Any) -> Problem:
    """Two devices, 2 ms per operation, 1 ms per message."""
    stage = split(2, 2, 2, activation_mb=1, boundary_mb=1)
    return pipeline([stage] * 2, microbatches, links=[{"between": ["d0", "d1"], "bandwidth_gbps": 8} | link], **more)


class TestMemory:
    def test_at_the_smallest_sufficient_capacity_it_is_gone(self) -> None:
        stage = split(1, 1, 1, activation_mb=5, retained_mb=2, backward_extra_mb=3, static_mb=10)
        found = only(pipeline([stage] * 2, 3, memory_mb=[17.5, None]))
        assert (found.reason, found.where, found.unit) == ("memory", "d0/0", "bytes")
        assert (found.needs, found.has, found.smallest_sufficient) == (18 * MB, 17.5 * MB, 18 * MB)
        assert "needs 18 MB (10 MB static + 8 MB for one microbatch on stage 0), has 17.5 MB" in found.message
        assert obstacles(pipeline([stage] * 2, 3, memory_mb=[18, None])) == ()
        assert only(pipeline([stage] * 2, 3, memory_mb=[17.999999, None])).has == 17_999_999

    def test_static_memory_alone(self) -> None:
        found = only(pipeline([split(1, 1, 1, static_mb=9)], 1, memory_mb=8))
        assert (found.needs, found.facts["one_microbatch"]) == (9 * MB, 0)

    @pytest.mark.parametrize(
        ("amounts", "least"),
        [
            # (activation, retained, extra) per chunk: held together until the last backward begins
            ([(5, 5, 0), (4, 4, 0)], 9),
            # the later chunk is gone when the earlier one's backward takes its extra
            ([(1, 1, 6), (4, 4, 0)], 7),
            ([(1, 1, 6), (4, 4, 3)], 8),
            ([(0, 0, 0), (2, 0, 1), (3, 1, 0)], 5),
        ],
    )
    def test_chunks_of_one_microbatch(self, amounts: list[tuple[int, int, int]], least: int) -> None:
        stages = [split(1, 1, 1, activation_mb=a, retained_mb=w, backward_extra_mb=x) for a, w, x in amounts]
        problem = pipeline(stages, 2, places=[0] * len(stages), memory_mb=100)
        assert [need.amount for need in memory_needs(problem)] == [least * MB]

    def test_the_largest_microbatch_counts(self) -> None:
        problem = pipeline([split(1, 1, 1, activation_mb=2)], {"multipliers": [1, 4, 2], "order": "free"}, memory_mb=7)
        found = only(problem)
        assert (found.needs, found.facts["microbatch"]) == (8 * MB, 1)

    def test_like_devices_share_an_obstacle(self) -> None:
        found = only(pipeline([split(1, 1, 1, activation_mb=2)] * 9, 1, memory_mb=1))
        assert found.facts["devices"] == [f"d{d}/0" for d in range(9)]
        assert found.where == "d0/0, d1/0, d2/0, d3/0, d4/0 and 4 more"
        assert "each needs 2 MB" in found.message

    def test_the_cheapest_recompute_choice_counts(self) -> None:
        stage: dict[str, Any] = split(1, 1, 1, activation_mb=6)
        stage["recompute_option"] = {"activation_mb": 2, "recompute_ms": 1, "backward_extra_mb": 3}
        stages = [stage, split(1, 1, 1, activation_mb=1)]
        problem = pipeline(stages, 1, places=[0, 0], memory_mb=4)
        found = only(problem)
        # Either option holds 7, or 2 + 1 and then, the second chunk gone, 2 + 3.
        assert (found.needs, found.facts["recomputed_stages"]) == (5 * MB, [0])
        assert "even with recomputation" in found.message
        assert obstacles(pipeline(stages, 1, places=[0, 0], memory_mb=5)) == ()

    def test_a_choice_that_needs_nothing_is_a_choice(self) -> None:
        stage: dict[str, Any] = split(1, 1, 1, activation_mb=0)
        stage["recompute_option"] = {"activation_mb": 2, "recompute_ms": 0}
        assert obstacles(pipeline([stage], 1, memory_mb=1)) == ()

    def test_a_backward_of_no_length_gives_before_it_takes(self) -> None:
        """B gives back 2 and takes 3 at one moment; then W holds 3."""
        stage = split(1, 0, 1, activation_mb=2, retained_mb=0, backward_extra_mb=3)
        assert obstacles(pipeline([stage], 2, memory_mb=3)) == ()
        longer = stage | {"backward_input_ms": 1}
        assert only(pipeline([longer], 2, memory_mb=3)).needs == 5 * MB

    def test_many_choices_on_one_device_are_relaxed(self) -> None:
        stage: dict[str, Any] = split(1, 1, 1, activation_mb=2)
        stage["recompute_option"] = {"activation_mb": 1, "recompute_ms": 1}
        found = only(pipeline([stage] * 12, 1, places=[0] * 12, memory_mb=11))
        assert found.needs == 12 * MB


class TestLinks:
    def test_devices_that_nothing_joins(self) -> None:
        stages = [split(1, 1, 1)] * 3
        found = obstacles(pipeline(stages, 1, links=[{"between": ["d0", "d1"], "one_way_latency_ms": 1}]))
        assert [(o.reason, o.where) for o in found] == [("link", "d1/0 to d2/0"), ("link", "d2/0 to d1/0")]
        assert all(o.needs is o.has is o.smallest_sufficient is None for o in found)
        assert "stages 1 and 2" in found[0].message

    def test_a_frozen_neighbour_needs_no_way_back(self) -> None:
        stages = [{"forward_ms": 1, "frozen": True}, split(1, 1, 1)]
        assert obstacles(pipeline(stages, 1, links=[{"from": "d0", "to": "d1", "one_way_latency_ms": 1}])) == ()

    def test_closed_all_the_time(self) -> None:
        found = only(two({"closed_ms": [[0, None]]}))
        assert (found.where, found.has) == ("d0-d1", 0)
        assert "d0-d1 is closed all the time" in found.message

    def test_closing_for_ever_before_the_last_gradient(self) -> None:
        """F, message, F, B: the first gradient is ready at 7, the second no earlier than 9."""
        found = only(two({"closed_ms": [[4, None]]}))
        assert (found.needs, found.has) == (10 * MS, 4 * MS)
        assert (found.facts["channel"], found.facts["lane"], found.facts["ready_ns"]) == ("d0-d1", "d0-d1/back", 9 * MS)
        assert only(two({"closed_ms": [[9.999999, None]]})).smallest_sufficient == 10 * MS
        assert obstacles(two({"closed_ms": [[10, None]]})) == ()

    def test_not_enough_time_for_all_messages_before_closing(self) -> None:
        """Half duplex: two activations and two gradients of 3 ms; each alone would be done by 13, all take until 14."""
        stage = split(1, 1, 1, boundary_mb=3)
        link = {"between": ["d0", "d1"], "bandwidth_gbps": 8, "duplex": "half"}

        def closing(at: float) -> Problem:
            return pipeline([stage] * 2, 2, links=[link | {"closed_ms": [[at, None]]}])

        needs = only(closing(5)).needs
        assert needs is not None
        assert obstacles(closing(needs / MS)) == ()
        assert only(closing(needs / MS - 0.000001)).needs == needs

    def test_one_of_two_periods_alone_leaves_no_opening(self) -> None:
        """Their common period is a day long, too long to look through."""
        shared = {"between": ["d0", "d1"], "group": "wan", "bandwidth_gbps": 1, "closed_ms": [[0, 0.5]]}
        spare = {"group": "wan", "closed_ms": [[0, 0.5]], "period_ms": 11.000003}
        stage = split(2, 2, 2, activation_mb=1, boundary_mb=1)
        found = only(pipeline([stage] * 2, 2, links=[shared | {"period_ms": 7.000001}, spare]))
        assert (found.reason, found.where) == ("link", "wan")
        assert (found.needs, found.has) == (8 * MS, 6_500_001)

    @pytest.mark.parametrize(
        ("closed", "widest"),
        [([[2, 5]], 7), ([[0, 2], [5, 10]], 3), ([[1, 9]], 2), ([[3, 10]], 3), ([[0, 4], [4, 8]], 2)],
    )
    def test_no_opening_is_long_enough(self, closed: list[list[int]], widest: int) -> None:
        """Openings join across the border of the period (of 10 ms), and so do closed windows."""
        fitting = {"closed_ms": closed, "period_ms": 10, "bandwidth_gbps": 8 / widest}
        assert obstacles(two(fitting)) == ()
        found = only(two({"closed_ms": closed, "period_ms": 10, "bandwidth_gbps": 8 / (widest + 1)}))
        assert (found.needs, found.has) == ((widest + 1) * MS, widest * MS)
        assert "never open for long enough" in found.message

    def test_a_slower_window_carries_less(self) -> None:
        """Closed 6 of 10 ms, half rate in 2 of the 4 open ones: an opening is worth 3 ms."""
        link = {"closed_ms": [[4, 10]], "slow_ms": [[2, 4, 4]], "period_ms": 10}
        stage = split(2, 2, 2, boundary_mb=3)
        joined = {"between": ["d0", "d1"], "bandwidth_gbps": 8} | link
        assert obstacles(pipeline([stage] * 2, 2, links=[joined])) == ()
        long = split(2, 2, 2, boundary_mb=3.5)
        assert only(pipeline([long] * 2, 2, links=[joined])).has == 3 * MS

    def test_openings_before_anything_is_ready_do_not_count(self) -> None:
        problem = two({"closed_ms": [[8, 100]]})
        closed = replace(problem.lanes[1].windows[0], start_ns=8 * MS, end_ns=30 * MS)
        short = replace(closed, start_ns=2 * MS - 1, end_ns=3 * MS, period_ns=3 * MS)
        lanes = (problem.lanes[0], replace(problem.lanes[1], windows=(closed, short)))
        assert obstacles(replace(problem, lanes=lanes)) == ()
        narrow = replace(short, start_ns=MS - 1)
        never = replace(closed, start_ns=20 * MS, end_ns=None)
        found = only(replace(problem, lanes=(problem.lanes[0], replace(problem.lanes[1], windows=(narrow, never)))))
        assert found.smallest_sufficient == MS

    def test_clock_anchored_windows_that_fit_at_no_phase(self) -> None:
        found = only(two({"closed_ms": [[0, 9.5]], "period_ms": 10, "anchor": "clock"}))
        assert (found.needs, found.has) == (MS, 0.5 * MS)
        assert "anchored to the clock" in found.message

    def test_an_unused_link_is_no_obstacle(self) -> None:
        spare = {"group": "spare", "closed_ms": [[0, None]], "bandwidth_gbps": 1}
        stage = split(1, 1, 1)
        links = [{"between": ["d0", "d1"], "one_way_latency_ms": 1}, spare]
        assert obstacles(pipeline([stage] * 2, 1, links=links)) == ()


class TestDeadlines:
    def test_a_makespan_below_the_bound(self) -> None:
        def due(deadline: float) -> Problem:
            return pipeline([split(2, 2, 2)] * 2, 3, latency_ms=1, limits={"deadline_ms": deadline})

        found = only(due(5))
        assert (found.reason, found.where, found.has) == ("deadline", "the schedule", 5 * MS)
        assert found.smallest_sufficient is not None
        assert obstacles(due(found.smallest_sufficient / MS)) == ()
        assert only(due((found.smallest_sufficient - 1) / MS)).needs == found.needs

    def test_a_stage_that_cannot_be_done_in_time(self) -> None:
        """Stage 1 of 2 starts at 3 and works 3 x 6 ms; the rest of the schedule does not matter."""

        def due(deadline: float) -> Problem:
            limits = {"stage_deadlines_ms": {"1": deadline}}
            return pipeline([split(2, 2, 2)] * 2, 3, latency_ms=1, limits=limits)

        found = only(due(20))
        assert (found.where, found.needs) == ("stage 1", 21 * MS)
        assert "stage 1 cannot be met" in found.message
        assert obstacles(due(21)) == ()

    def test_each_deadline_is_judged(self) -> None:
        limits = {"deadline_ms": 10, "stage_deadlines_ms": {"1": 5}}
        found = obstacles(pipeline([split(2, 2, 2)] * 2, 3, latency_ms=1, limits=limits))
        assert [o.where for o in found] == ["stage 1", "the schedule"]

    def test_what_a_stage_need_not_wait_for_takes_none_of_its_time(self) -> None:
        """The tied sum and the reduce of stage 0 come after all its compute, chained to an end of no length."""

        def due(**more: Any) -> Problem:
            stage = split(2, 2, 2, activation_mb=1, boundary_mb=1, reduced_mb=4)
            links = [{"between": ["d0", "d1"], "bandwidth_gbps": 8, "one_way_latency_ms": 3, "duplex": "half"}]
            sites = {f"d{d}": {"devices": 1, "hop_bandwidth_gbps": 8, "hop_latency_ms": 1} for d in range(2)}
            limits = {"stage_deadlines_ms": {"0": 5}}
            return pipeline([stage] * 2, 1, links=links, limits=limits, **({"sites": sites} | more))

        gradients = {"sharding": "none", "tied": [[0, 1]], "tied_mb": 1}
        parallel = {"tensor": 1, "pipeline": 2, "data": 2, "replica_messages": "separate"}
        assert only(due(parallel=parallel, gradients=gradients)).needs == only(due(parallel=parallel)).needs

    def test_none_is_judged_where_messages_cannot_pass(self) -> None:
        problem = two({"closed_ms": [[0, None]]}, limits={"deadline_ms": 1})
        assert only(problem).reason == "link"


def test_several_reasons_are_all_named() -> None:
    stage = split(2, 2, 2, activation_mb=2, boundary_mb=1)
    link = {"between": ["d0", "d1"], "bandwidth_gbps": 8, "closed_ms": [[4, None]]}
    found = obstacles(pipeline([stage] * 2, 2, memory_mb=1, links=[link]))
    assert [o.reason for o in found] == ["memory", "link"]


def test_replicas_are_named_once() -> None:
    problem = problem_of(
        {
            "model": {"stages": [split(1, 1, 1, activation_mb=2)]},
            "training": {"microbatches": 1},
            "parallel": {"tensor": 1, "pipeline": 1, "data": 2, "replica_messages": "separate"},
            "sites": {"a": {"devices": 1, "memory_gb": 0.001}},
        }
    )
    assert only(problem).facts["devices"] == ["a/0"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (ms(1_500_000), "1.5 ms"),
        (ms(1), "0.000001 ms"),
        (ms(10**12), "1000000 ms"),
        (amount(12_000_000, "bytes"), "12 MB"),
        (amount(2, "microbatches"), "2 microbatches"),
        (listed(["a"]), "a"),
        (listed(["a", "b", "c"]), "a, b and c"),
    ],
)
def test_numbers_in_words(text: str, written: str) -> None:
    assert text == written
