from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.building import STAGE, problem, problems

from crosspipe.errors import SpecError, TooLargeError
from crosspipe.problem.combine import combine
from crosspipe.problem.free import crosses_sites, free_links
from crosspipe.problem.operations import NO_RESOURCE, Kind
from crosspipe.problem.wire import problem_from_json, problem_to_json

TWO_SITES = {"sites": {"a": {"devices": 1}, "b": {"devices": 1}}}


def linked(**link: object) -> dict[str, object]:
    return TWO_SITES | {"links": [{"between": ["a", "b"], **link}]}


def test_each_duration_is_exact_and_rounded_once_half_to_even() -> None:
    stage = STAGE | {"forward_ms": 0.0000025, "backward_input_ms": 0.0000015, "backward_weight_ms": 1 / 4}
    compiled = problem([stage], 1)
    assert compiled.operations.duration_ns.tolist() == [2, 2, 250_000]


def test_time_factor_and_multipliers_scale_before_rounding() -> None:
    sites = {"a": {"devices": 1, "time_factor": 1.25}}
    compiled = problem([STAGE], {"multipliers": [1, 2.5], "order": "free"}, sites=sites)
    assert compiled.operations.duration_ns[compiled.numbers[Kind.F, 0, 0]].tolist() == [1_250_000, 3_125_000]
    assert compiled.chains == ()


def test_fixed_order_is_required_and_identical_microbatches_are_merely_in_order() -> None:
    assert not problem(2, 3).chains_required
    assert len(problem(2, 3).chains) == 6
    assert problem([STAGE], {"multipliers": [1, 2], "order": "fixed"}).chains_required


def test_memory_is_held_from_f_to_b_and_to_w() -> None:
    stage = STAGE | {"activation_mb": 10, "retained_mb": 4, "backward_extra_mb": 3, "static_mb": 7}
    compiled = problem([stage], 1, sites={"a": {"devices": 1, "memory_gb": 0.1, "memory_headroom": 0.25}})
    f, b, w = (compiled.number(kind, 0, 0) for kind in (Kind.F, Kind.B, Kind.W))
    rows = set(zip(*(c.tolist() for c in (compiled.holdings.taken_by, compiled.holdings.given_by)), strict=True))
    assert rows == {(f, b), (f, w), (b, w)}
    amounts = {
        (t, g): a
        for t, g, a in zip(
            compiled.holdings.taken_by.tolist(),
            compiled.holdings.given_by.tolist(),
            compiled.holdings.amount.tolist(),
            strict=True,
        )
    }
    assert amounts == {(f, b): 6_000_000, (f, w): 4_000_000, (b, w): 3_000_000}
    assert (compiled.pools[0].capacity, compiled.pools[0].base) == (75_000_000, 7_000_000)


def test_a_message_occupies_its_lane_then_needs_the_latency() -> None:
    compiled = problem([STAGE | {"boundary_mb": 5, "gradient_mb": 1}, STAGE], 1, **linked(bandwidth_gbps=8, rtt_ms=6))
    assert [(hop.kind.name, hop.transfer_ns, hop.latency_ns) for hop in compiled.hops] == [
        ("ACTIVATION", 5_000_000, 3_000_000),
        ("GRADIENT", 1_000_000, 3_000_000),
    ]
    assert [lane.name for lane in compiled.lanes] == ["a-b/out", "a-b/back"]


def test_without_bandwidth_a_message_queues_nowhere() -> None:
    compiled = problem([STAGE | {"boundary_mb": 5}, STAGE], 1, **linked(one_way_latency_ms=3))
    assert compiled.lanes == ()
    assert sorted(compiled.precedences.lag_ns.tolist())[-2:] == [3_000_000, 3_000_000]


def test_half_duplex_and_groups_share_lanes() -> None:
    half = problem([STAGE | {"boundary_mb": 1}, STAGE], 1, **linked(bandwidth_gbps=8, duplex="half"))
    assert [lane.name for lane in half.lanes] == ["a-b"]
    stages = [STAGE | {"boundary_mb": 1, "device": name} for name in ("a/0", "b/0", "b/1", "a/1")]
    links = [
        {"between": ["a/0", "b/0"], "bandwidth_gbps": 8, "group": "pipe"},
        {"between": ["a/1", "b/1"], "bandwidth_gbps": 8, "group": "pipe"},
    ]
    grouped = problem(stages, 1, sites={"a": {"devices": 2}, "b": {"devices": 2}}, links=links)
    assert [lane.name for lane in grouped.lanes] == ["pipe/out", "pipe/back"]
    assert len(grouped.by_resource[4]) == 2


def test_a_transfer_table_is_interpolated() -> None:
    table = [[1, 2], [3, 4]]
    sizes = {0.5: 2, 1: 2, 2: 3, 3: 4, 5: 6}
    for size, time in sizes.items():
        compiled = problem([STAGE | {"boundary_mb": size}, STAGE], 1, **linked(transfer_table=table))
        assert compiled.hops[0].transfer_ns == time * 10**6


def test_a_measured_time_goes_before_a_bandwidth() -> None:
    stages = [STAGE | {"boundary_mb": 2}, STAGE]
    by_table = linked(transfer_table=[[1, 2], [3, 4]], bandwidth_gbps=8)
    assert problem(stages, 1, **by_table).hops[0].transfer_ns == 3_000_000
    per_message = linked(transfer_ms=7, bandwidth_gbps=8)
    assert problem(stages, 1, **per_message).hops[0].transfer_ns == 7_000_000


def test_a_time_per_message_says_nothing_of_extra_operations() -> None:
    extra = [{"name": "reduce", "size_mb": 40, "lane": "a-b/out", "after": [0]}]
    for more, duration_ms in (({"transfer_ms": 7}, 40), ({"transfer_table": [[1, 2], [3, 4]]}, 41)):
        compiled = problem(2, 1, **linked(bandwidth_gbps=8, **more), extra_operations=extra)
        assert compiled.operations.duration_ns[compiled.extras[0][1]] == duration_ms * 10**6


def test_merged_replicas_send_one_long_message_and_separate_ones_take_turns() -> None:
    more = linked(bandwidth_gbps=8)
    merged = problem([STAGE | {"boundary_mb": 1}, STAGE], 1, **more, parallel={"data": 3})
    assert (merged.replicas, merged.merged_replicas, merged.hops[0].transfer_ns) == (1, 3, 3_000_000)
    separate = problem(
        [STAGE | {"boundary_mb": 1}, STAGE], 1, **more, parallel={"data": 3, "replica_messages": "separate"}
    )
    assert (separate.replicas, len(separate.devices), separate.hops[0].transfer_ns) == (3, 6, 1_000_000)
    assert [len(rows) for rows in separate.by_resource[6:]] == [3, 3]
    own = problem(
        [STAGE | {"boundary_mb": 1}, STAGE],
        1,
        **linked(bandwidth_gbps=8, per_replica=True),
        parallel={"data": 3, "replica_messages": "separate"},
    )
    assert len(own.lanes) == 6


def test_open_windows_are_the_complement_of_closed_ones() -> None:
    compiled = problem(
        [STAGE | {"boundary_mb": 1}, STAGE],
        1,
        **linked(bandwidth_gbps=8, open_ms=[[2, 4], [6, None]]),
    )
    assert [(w.start_ns, w.end_ns) for w in compiled.lanes[0].windows] == [(0, 2_000_000), (4_000_000, 6_000_000)]


def test_traversals_of_twice_the_devices_are_loop_and_wave() -> None:
    found = problems([dict(STAGE) for _ in range(4)], 2, sites={"a": {"devices": 2}})
    assert [(p.traversal, [s.device for s in p.stages]) for p in found] == [
        ("loop", [0, 1, 0, 1]),
        ("wave", [0, 1, 1, 0]),
    ]


def test_stages_that_devices_cannot_share_evenly_are_refused_with_the_nearest_number() -> None:
    with pytest.raises(SpecError, match=r"3 stages on 2 devices.*nearest legal: 4 stages"):
        problems(3, 2, sites={"a": {"devices": 2}})


@pytest.mark.parametrize(
    ("stage", "more", "rule"),
    [
        ({"forward_ms": 1e12}, {"sites": {"a": {"devices": 2, "time_factor": 1e6}}}, "no time or amount"),
        ({"activation_mb": 1e12}, {"training": {"microbatches": {"multipliers": [1e6, 1]}}}, "no time or amount"),
        ({"recompute_option": {"activation_mb": 1e12, "recompute_ms": 1e12}}, {}, "all durations and latencies"),
        ({"activation_mb": 1e12}, {"training": {"microbatches": 20}}, "static memory and all activations"),
        ({"boundary_mb": 1e12}, linked(bandwidth_gbps=1e-9), "no time or amount"),
        ({"boundary_mb": 1e6}, linked(bandwidth_gbps=1e9, slow_ms=[[0, None, 1e-9]]), "must surely end"),
        (
            {"boundary_mb": 1e6},
            linked(bandwidth_gbps=1, slow_ms=[[0, 1e6, 1e-9]], period_ms=1e6, anchor="clock"),
            "no time or amount",
        ),
    ],
)
def test_what_64_bits_cannot_tell_is_refused(stage: dict[str, object], more: dict[str, Any], rule: str) -> None:
    with pytest.raises(TooLargeError, match=rule):
        problem([STAGE | stage] * 2, **({"microbatches": 2} | more))


@pytest.mark.parametrize("messages", ["merged", "separate"])
def test_an_extra_operation_sends_its_size_once_for_all_replicas(messages: str) -> None:
    parallel = {"data": 4, "replica_messages": messages}
    extras = [{"name": "sum", "size_mb": 3, "lane": "a-b/out", "after": [0]}]
    compiled = problem(2, 1, parallel=parallel, extra_operations=extras, **linked(bandwidth_gbps=8))
    ((_, number),) = compiled.extras
    assert compiled.operations.duration_ns[number] == 3_000_000
    assert compiled.resource_name(int(compiled.operations.resource[number])) == "a-b/out"


def test_an_extra_operation_of_no_length_queues_on_no_lane() -> None:
    extras = [{"name": "sum", "size_mb": 0, "lane": "a-b/out", "after": [0]}]
    compiled = problem(2, 1, extra_operations=extras, **linked(bandwidth_gbps=8, closed_ms=[[0, 50]]))
    ((_, number),) = compiled.extras
    assert compiled.operations.duration_ns[number] == 0
    assert compiled.operations.resource[number] == NO_RESOURCE


def test_extra_operations_wait_for_all_backward_work_and_gate_the_first_forward() -> None:
    extras = [{"name": "gather", "duration_ms": 2, "before": [0]}, {"name": "sum", "duration_ms": 3, "after": [0, 1]}]
    compiled = problem(2, 2, extra_operations=extras)
    gather, total = (number for _, number in compiled.extras)
    assert int((compiled.precedences.before == gather).sum()) == 2
    assert int((compiled.precedences.after == total).sum()) == 4


def test_a_stage_that_an_extra_operation_lists_twice_counts_once() -> None:
    """Count states number what is waited for: twice the same would be two."""
    extras = [
        {"name": "gather", "duration_ms": 2, "before": [0, 0]},
        {"name": "sum", "duration_ms": 3, "after": [1, 1]},
    ]
    compiled = problem(2, 2, extra_operations=extras)
    gather, total = (number for _, number in compiled.extras)
    assert int((compiled.precedences.before == gather).sum()) == 2
    assert int((compiled.precedences.after == total).sum()) == 2


def test_limits_become_pools_and_due_times() -> None:
    compiled = problem(2, 2, limits={"in_flight": [1, None], "deadline_ms": 20, "stage_deadlines_ms": {1: 9}})
    assert [(p.name, p.capacity) for p in compiled.pools if p.unit == "microbatches"] == [("in flight on stage 0", 1)]
    assert compiled.due_ns is not None
    assert set(compiled.due_ns[compiled.operations.stage == 1].tolist()) == {9_000_000}


def test_recompute_options_change_durations_and_memory_of_their_stage_alone() -> None:
    option = {"activation_mb": 1, "recompute_ms": 2, "backward_extra_mb": 3}
    stages = [STAGE | {"activation_mb": 4, "recompute_option": option}, dict(STAGE)]
    base = problem(stages, 2)
    chosen = base.recompute(frozenset({0}))
    b = base.numbers[Kind.B, 0, 0]
    assert (chosen.operations.duration_ns[b] - base.operations.duration_ns[b]).tolist() == [2_000_000] * 2
    of_stage = np.isin(chosen.holdings.taken_by, np.flatnonzero(chosen.operations.stage == 0))
    assert (
        sorted(chosen.holdings.amount[of_stage & (chosen.holdings.amount > 0)].tolist())
        == [10**6] * 2 + [3 * 10**6] * 2
    )
    with pytest.raises(ValueError, match="stage 1 has no recompute option"):
        base.recompute(frozenset({1}))


def test_frozen_stages_have_no_backward_and_get_no_gradient() -> None:
    compiled = problem([{"forward_ms": 1, "frozen": True, "activation_mb": 1}, dict(STAGE)], 1)
    assert compiled.number(Kind.B, 0, 0) is None
    assert [hop.kind for hop in compiled.hops] == [Kind.ACTIVATION]


def test_a_missing_route_is_kept_for_the_explanation() -> None:
    assert all(hop.missing for hop in problem(2, 1, **TWO_SITES).hops)


def test_a_device_link_comes_before_a_site_link() -> None:
    links = [
        {"between": ["a", "b"], "one_way_latency_ms": 5},
        {"from": "a/0", "to": "b/0", "one_way_latency_ms": 1},
    ]
    assert [h.latency_ns for h in problem(2, 1, **TWO_SITES, links=links).hops] == [1_000_000, 5_000_000]


def test_a_problem_too_large_is_refused_with_the_largest_that_is_not() -> None:
    with pytest.raises(TooLargeError, match="100000 microbatches"):
        problems(2, 1_000_000)


def test_combining_makes_each_b_and_w_one() -> None:
    stage = STAGE | {"activation_mb": 10, "retained_mb": 4, "backward_weight_ms": 2}
    split, whole = (
        problem([stage, stage], 3),
        problem([stage, stage], 3, training={"microbatches": 3, "split_backward": False}),
    )
    combined = combine(split)
    assert combined.operations.duration_ns.tolist() == whole.operations.duration_ns.tolist()
    assert combined.operations.kind.tolist() == whole.operations.kind.tolist()
    arcs = [
        set(zip(p.precedences.before.tolist(), p.precedences.after.tolist(), strict=True)) for p in (combined, whole)
    ]
    assert arcs[0] == arcs[1]
    assert len(combined.chains) == len(whole.chains)


def test_the_wire_form_is_exact() -> None:
    option = {"activation_mb": 1, "recompute_ms": 2}
    links = linked(bandwidth_gbps=8, closed_ms=[[1, 2]], period_ms=9)
    compiled = problem(
        [STAGE | {"boundary_mb": 1, "activation_mb": 2, "recompute_option": option}, STAGE],
        2,
        **links,
        extra_operations=[{"name": "x", "duration_ms": 1, "after": [0]}],
        limits={"in_flight": 2, "deadline_ms": 99},
    )
    data = json.loads(json.dumps(problem_to_json(compiled)))
    assert problem_to_json(problem_from_json(data)) == data


def test_free_links_frees_the_wide_area_alone() -> None:
    sites = {"a": {"devices": 2, "hop_latency_ms": 1}, "b": {"devices": 1}}
    links = [{"between": ["a", "b"], "bandwidth_gbps": 8, "one_way_latency_ms": 7, "closed_ms": [[0, 3]]}]
    compiled = problem([STAGE | {"boundary_mb": 1} for _ in range(3)], 1, sites=sites, links=links)
    free = free_links(compiled)
    assert crosses_sites(compiled)
    assert sorted(set(free.precedences.lag_ns.tolist())) == [0, 1_000_000]
    assert free.operations.duration_ns[free.operations.kind >= Kind.ACTIVATION].tolist() == [0, 0]
    assert all(not lane.windows for lane in free.lanes)
    assert [(hop.transfer_ns, hop.latency_ns) for hop in free.hops] == [(0, 1_000_000)] * 2 + [(0, 0)] * 2
