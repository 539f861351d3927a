"""What gradients compile to: names, lanes, durations, lags, memory; ring formulas with whole numbers."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.building import STAGE, problem

from crosspipe.errors import SpecError, TooLargeError
from crosspipe.problem.combine import combine
from crosspipe.problem.free import crosses_sites, free_links
from crosspipe.problem.operations import Kind
from crosspipe.problem.wire import problem_from_json, problem_to_json

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

MS = 10**6
SIZED = STAGE | {"weights_mb": 120, "reduced_mb": 240}


def compiled(
    stages: int = 1, across: str = "data", sites: int = 2, link: dict[str, Any] | None = None, **more: Any
) -> Problem:
    """Stages with a copy in each site (or all in one); links of 800 Gb/s along a row of sites."""
    names = [f"s{number}" for number in range(sites)]
    each = stages if across != "both" else max(1, stages // sites)
    links = [{"bandwidth_gbps": 800, "one_way_latency_ms": 1} | (link or {}) for _ in names[1:]]
    return problem(
        [dict(SIZED) for _ in range(stages)],
        2,
        **{
            "parallel": {"tensor": 1, "data": 2 * sites, "across_sites": across},
            "sites": {name: {"devices": each, "hop_bandwidth_gbps": 400, "hop_latency_ms": 0.5} for name in names},
            "links": [{"between": pair} | fields for pair, fields in zip(pairwise(names), links, strict=True)],
            "gradients": {"sharding": "zero1"},
        }
        | more,
    )


def operations(found: Problem) -> dict[str, tuple[float, str | None]]:
    """Duration in ms and lane of each extra operation by name."""
    ops, first = found.operations, len(found.devices)
    lanes = [found.lanes[r - first].name if r >= first else None for r in ops.resource.tolist()]
    return {name: (ops.duration_ns[number] / MS, lanes[number]) for name, number in found.extras}


def lag_ms(found: Problem, before: str, after: str) -> float:
    numbers, waits = dict(found.extras), found.precedences
    rows = (waits.before == numbers[before]) & (waits.after == numbers[after])
    (lag,) = waits.lag_ns[rows].tolist()
    return float(lag) / MS


def test_copies_sum_inside_then_over_the_links_and_gather_the_other_way() -> None:
    """Two copies a site, two sites: 1 / 2 of 240 MB at 50 MB/ms inside, 1 / 2 at 100 MB/ms on the links."""
    found = compiled()
    assert operations(found) == {
        "gather of stage 0, s0->s1": (0.6, "s0-s1/out"),
        "gather of stage 0, s1->s0": (0.6, "s0-s1/back"),
        "gather of stage 0, inside": (1.2, "gradients of s0/0"),
        "reduce of stage 0, inside": (2.4, "gradients of s0/0"),
        "reduce of stage 0, s0->s1": (1.2, "s0-s1/out"),
        "reduce of stage 0, s1->s0": (1.2, "s0-s1/back"),
        "reduce of stage 0, end": (0, None),
    }
    assert lag_ms(found, "gather of stage 0, s0->s1", "gather of stage 0, inside") == 1
    assert lag_ms(found, "reduce of stage 0, inside", "reduce of stage 0, s1->s0") == 0.5
    assert lag_ms(found, "reduce of stage 0, s0->s1", "reduce of stage 0, end") == 1


def test_an_all_reduce_takes_two_phases() -> None:
    found = operations(compiled(gradients={"sharding": "none"}))
    assert found["reduce of stage 0, s0->s1"] == (2.4, "s0-s1/out")
    assert found["reduce of stage 0, back inside"] == (2.4, "gradients of s0/0")
    alone = operations(compiled(sites=1, across="pipeline", gradients={"sharding": "none"}))
    assert alone == {"reduce of stage 0": (4.8, "gradients of s0/0"), "reduce of stage 0, end": (0, None)}


def test_a_ring_of_three_sites_goes_on_over_the_site_between() -> None:
    """2 x (1 / 3 of 240 MB): 1.6 ms on each link; from s2 to s0 over s1, a link after the other, 2 x 1 ms apart."""
    found = compiled(sites=3)
    named = operations(found)
    assert named["reduce of stage 0, s0->s1"] == (1.6, "s0-s1/out")
    assert named["reduce of stage 0, s2->s0, link 1"] == (1.6, "s1-s2/back")
    assert named["reduce of stage 0, s2->s0, link 2"] == (1.6, "s0-s1/back")
    assert lag_ms(found, "reduce of stage 0, s2->s0, link 1", "reduce of stage 0, s2->s0, link 2") == 2


def test_pieces_are_alike_and_follow_each_other_on_a_link() -> None:
    found = compiled(gradients={"sharding": "zero1", "pieces": 4})
    named = operations(found)
    pieces = [f"reduce of stage 0, s0->s1, piece {number} of 4" for number in (1, 2, 3, 4)]
    assert {named[name] for name in pieces} == {(0.3, "s0-s1/out")}
    assert [lag_ms(found, *pair) for pair in pairwise(pieces)] == [0, 0, 0]


def test_half_duplex_puts_both_ways_on_one_lane_and_a_replicas_own_link_carries_its_share() -> None:
    half = operations(compiled(link={"duplex": "half"}))
    assert {half["reduce of stage 0, s0->s1"], half["reduce of stage 0, s1->s0"]} == {(1.2, "s0-s1")}
    own = operations(compiled(link={"per_replica": True}))
    assert own["reduce of stage 0, s0->s1"][0] == 0.6


def test_what_takes_no_time_occupies_nothing() -> None:
    found = compiled(link={"bandwidth_gbps": None})
    assert operations(found)["reduce of stage 0, s0->s1"] == (0, None)
    assert lag_ms(found, "reduce of stage 0, s0->s1", "reduce of stage 0, end") == 1


def test_the_pipeline_of_one_site_has_the_worst_of_every_rank() -> None:
    sites = {
        "s0": {"pools": [{"devices": 1, "memory_gb": 1}, {"devices": 1, "time_factor": 3}]},
        "s1": {"pools": [{"devices": 1, "time_factor": 2, "memory_gb": 2}, {"devices": 1, "memory_gb": 4}]},
    }
    parallel = {"tensor": 1, "data": 4, "across_sites": "data"}
    links = [{"between": ["s0", "s1"], "bandwidth_gbps": 800}]
    found = problem([dict(SIZED)] * 2, 2, parallel=parallel, sites=sites, links=links, gradients={})
    assert [device.name for device in found.devices] == ["s0/0", "s0/1"]
    assert [pool.capacity for pool in found.pools] == [10**9, 4 * 10**9]
    forward = found.operations.duration_ns[found.numbers[Kind.F, 0, :, 0]].tolist()
    assert forward == [2 * MS, 3 * MS]
    assert found.merged_replicas == 2


def test_gathered_weights_are_held_to_a_reshard_and_counted_as_kept() -> None:
    found = compiled(gradients={"sharding": "full"}, parallel={"tensor": 4, "data": 4, "across_sites": "data"})
    numbers, held = dict(found.extras), found.holdings
    (row,) = np.flatnonzero(held.given_by == numbers["reshard of stage 0"]).tolist()
    assert (held.taken_by[row], held.amount[row]) == (numbers["gather of stage 0, begin"], 30_000_000)
    assert [pool.kept for pool in found.pools] == [30_000_000]
    assert found.gathered == (30_000_000,)


@pytest.mark.parametrize("change", [{"backward_extra_mb": 1}, {"backward_input_ms": None, "frozen": True}])
def test_nothing_is_kept_where_capacity_may_bind_at_another_time(change: dict[str, Any]) -> None:
    stages = [{k: v for k, v in (SIZED | change).items() if v is not None}, dict(SIZED)]
    if change.get("frozen"):
        del stages[0]["backward_weight_ms"]
    found = problem(
        stages,
        2,
        parallel={"tensor": 1, "data": 2},
        placement={"stages_per_device": 2},
        sites={"a": {"devices": 1, "hop_bandwidth_gbps": 400}},
        gradients={"sharding": "full"},
    )
    assert [pool.kept for pool in found.pools] == [0]
    assert found.gathered == (240_000_000,)
    begins = [number for name, number in found.extras if name.endswith("begin")]
    assert found.operations.resource[begins].tolist() == [0, 0], "in the order of the device"


def test_replicas_modelled_apart_gather_together_and_give_back_each_for_itself() -> None:
    parallel = {"tensor": 1, "data": 2, "replica_messages": "separate"}
    found = compiled(sites=1, across="pipeline", parallel=parallel, gradients={"sharding": "full"})
    names = [name for name, _ in found.extras]
    assert names.count("gather of stage 0") == 1
    assert {"reshard of stage 0, replica 0", "reshard of stage 0, replica 1"} <= set(names)
    assert [pool.kept for pool in found.pools] == [120_000_000] * 2


@pytest.mark.parametrize("messages", ["merged", "separate"])
def test_tied_sums_of_all_replicas_share_the_link(messages: str) -> None:
    """50 MB over two devices, two phases: 50 MB sent each way, for each of four replicas; 2 ms at 100 MB/ms."""
    gradients = {"sharding": "none", "tied": [[0, 1]], "tied_mb": 50}
    parallel = {"tensor": 1, "data": 4, "across_sites": "both", "replica_messages": messages}
    found = compiled(2, "both", parallel=parallel, gradients=gradients)
    name = "sum of tied stages 0, 1, s0/0->s1/0"
    assert operations(found)[name] == (2, "s0-s1/out")
    assert lag_ms(found, "sum of tied stages 0, 1, end", "reduce of stage 0, inside") == 0
    assert dict(found.extras)[name] in found.between_sites


def test_free_links_free_the_gradients_between_sites() -> None:
    found = compiled()
    assert crosses_sites(found)
    free = free_links(found)
    assert operations(free)["reduce of stage 0, s0->s1"][0] == 0
    assert lag_ms(free, "reduce of stage 0, s0->s1", "reduce of stage 0, end") == 0
    assert operations(free)["reduce of stage 0, inside"][0] == 2.4


def test_it_survives_the_wire_and_combined_backwards() -> None:
    found = compiled(gradients={"sharding": "full"})
    data = json.loads(json.dumps(problem_to_json(found)))
    assert problem_to_json(problem_from_json(data)) == problem_to_json(found)
    both = combine(found)
    assert [both.label(number) for number in both.between_sites] == [found.label(n) for n in found.between_sites]


def test_too_many_pieces_and_places_that_nothing_joins_are_refused() -> None:
    with pytest.raises(TooLargeError, match="pieces"):
        compiled(stages=60, gradients={"sharding": "zero1", "pieces": 1000})
    with pytest.raises(SpecError, match="nothing leads from s1 to s0"):
        compiled(links=[{"from": "s0", "to": "s1", "bandwidth_gbps": 800}])
