"""Routes over several links: which way a message takes, and what becomes of each link on it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.building import STAGE, problem

import crosspipe.problem.compile as compiling
from crosspipe.errors import TooLargeError
from crosspipe.problem.free import free_links
from crosspipe.problem.operations import Kind
from crosspipe.problem.wire import problem_from_json, problem_to_json

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

SENDING = STAGE | {"boundary_mb": 1}


def link(a: str, b: str, latency_ms: float = 1, **more: Any) -> dict[str, Any]:
    return {"between": [a, b], "one_way_latency_ms": latency_ms, "bandwidth_gbps": 8} | more


def one_way(a: str, b: str, latency_ms: float = 1) -> dict[str, Any]:
    return {"from": a, "to": b, "one_way_latency_ms": latency_ms, "bandwidth_gbps": 8}


def two_stages(places: tuple[str, str], links: list[dict[str, Any]], **more: Any) -> Problem:
    """Stage 0 and 1 on two devices of sites a to e, which have two devices each."""
    sites = {site: {"devices": 2, "hop_latency_ms": 1, "hop_bandwidth_gbps": 80} for site in "abcde"}
    given = {"sites": sites, "links": links, "placement": {"map": list(places)}} | more
    return problem([SENDING, SENDING], given.pop("microbatches", 1), **given)


def ways(compiled: Problem) -> list[str | None]:
    """The links from stage 0 to stage 1, and back."""
    return [hop.link for hop in compiled.hops]


def test_without_a_link_of_its_own_a_message_goes_through_the_sites_between() -> None:
    compiled = two_stages(("a/0", "c/0"), [link("a", "b", 2), link("b", "c", 3, bandwidth_gbps=4)])
    assert ways(compiled) == ["a-b, b-c", "b-c, a-b"]
    assert [lane.name for lane in compiled.lanes] == ["a-b/out", "b-c/out", "b-c/back", "a-b/back"]
    assert [(leg.transfer_ns, leg.latency_ns) for leg in compiled.hops[0].legs] == [
        (1_000_000, 2_000_000),
        (2_000_000, 3_000_000),
    ]
    assert (compiled.hops[0].transfer_ns, compiled.hops[0].latency_ns) == (3_000_000, 5_000_000)


def test_each_leg_is_an_operation_that_waits_for_the_arrival_of_the_one_before() -> None:
    compiled = two_stages(("a/0", "c/0"), [link("a", "b", 2), link("b", "c", 3)])
    first, second = compiled.transfers(Kind.ACTIVATION, 0, 0)
    start, end = compiled.number(Kind.F, 0, 0), compiled.number(Kind.F, 1, 0)
    waits = compiled.precedences
    rows = set(zip(waits.before.tolist(), waits.after.tolist(), waits.lag_ns.tolist(), strict=True))
    assert {(start, first, 0), (first, second, 2_000_000), (second, end, 3_000_000)} <= rows
    assert not any((before, after) == (start, end) for before, after, _ in rows)
    assert compiled.number(Kind.ACTIVATION, 0, 0) == first
    assert compiled.label(first) == "activation over boundary 0, microbatch 0"
    assert compiled.label(second) == "activation over boundary 0, leg 1, microbatch 0"


def test_every_leg_keeps_the_order_of_microbatches() -> None:
    compiled = two_stages(("a/0", "c/0"), [link("a", "b"), link("b", "c")], microbatches=3)
    legs = [[compiled.transfers(Kind.ACTIVATION, 0, j)[leg] for j in range(3)] for leg in range(2)]
    assert [chain for chain in (row.tolist() for row in compiled.chains) if chain in legs] == legs


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([link("a", "c", 99), link("a", "b", 1), link("b", "c", 1)], "a-c"),
        ([link("a", "b"), link("b", "d"), link("d", "c"), link("a", "e", 50), link("e", "c", 50)], "a-e, e-c"),
        ([link("a", "b", 2), link("b", "c", 2), link("a", "d", 1), link("d", "c", 2)], "a-d, d-c"),
        ([link("a", "b", 2), link("b", "c", 2), link("a", "d", 2), link("d", "c", 2)], "a-b, b-c"),
        ([link("d", "c", 2), link("a", "b", 2), link("b", "c", 2), link("a", "d", 2)], "a-b, b-c"),
        ([link("a", "b", 1), link("b", "c", 2), link("a/0", "d", 1), link("d", "c", 1)], "a/0-d, d-c"),
        ([link("a", "b", 1), link("a/0", "b", 9), link("b", "c", 1)], "a/0-b, b-c"),
        ([link("a", "b", 1), link("b/1", "c/0", 9), link("b/0", "c", 1)], "a-b, b/0-c"),
    ],
)
def test_fewest_links_then_least_latency_then_the_order_of_the_spec(links: list[dict[str, Any]], expected: str) -> None:
    assert ways(two_stages(("a/0", "c/0"), links))[0] == expected


def test_a_hop_inside_a_site_leads_to_the_device_where_a_link_begins_and_from_where_it_ends() -> None:
    compiled = two_stages(("a/0", "b/0"), [link("a/1", "b/1", 7)])
    assert ways(compiled) == ["a/0->a/1, a/1-b/1, b/1->b/0", "b/0->b/1, a/1-b/1, a/1->a/0"]
    assert [leg.latency_ns for leg in compiled.hops[0].legs] == [1_000_000, 7_000_000, 1_000_000]
    assert [leg.transfer_ns for leg in compiled.hops[0].legs] == [100_000, 1_000_000, 100_000]


def test_links_of_one_direction_lead_there_and_not_back() -> None:
    compiled = two_stages(("a/0", "c/0"), [one_way("a", "b"), one_way("b", "c")])
    assert ways(compiled) == ["a->b, b->c", None]
    assert [hop.missing for hop in compiled.hops] == [False, True]
    ring = two_stages(("a/0", "c/0"), [one_way("a", "b"), one_way("b", "c"), one_way("c", "d"), one_way("d", "a")])
    assert ways(ring) == ["a->b, b->c", "c->d, d->a"]


def test_a_leg_that_takes_no_time_is_no_operation_but_its_latency_counts() -> None:
    free = link("a", "b", 2) | {"bandwidth_gbps": None}
    compiled = two_stages(("a/0", "c/0"), [free, link("b", "c", 3)])
    (sent,) = compiled.transfers(Kind.ACTIVATION, 0, 0)
    assert compiled.operations.leg[sent] == 1
    assert compiled.number(Kind.ACTIVATION, 0, 0) is None
    waits = compiled.precedences
    rows = set(zip(waits.before.tolist(), waits.after.tolist(), waits.lag_ns.tolist(), strict=True))
    assert (compiled.number(Kind.F, 0, 0), sent, 2_000_000) in rows
    assert (sent, compiled.number(Kind.F, 1, 0), 3_000_000) in rows


def test_microbatches_that_take_a_leg_no_time_go_round_it_alone() -> None:
    brief = link("a", "b", 2) | {"bandwidth_gbps": None, "transfer_ms": 0.000001}
    multipliers = {"multipliers": [1, 0.25], "order": "free"}
    compiled = two_stages(("a/0", "c/0"), [brief, link("b", "c", 3)], microbatches=multipliers)
    assert [len(compiled.transfers(Kind.ACTIVATION, 0, j)) for j in (0, 1)] == [2, 1]
    waits = compiled.precedences
    rows = set(zip(waits.before.tolist(), waits.after.tolist(), waits.lag_ns.tolist(), strict=True))
    assert (compiled.number(Kind.F, 0, 1), compiled.transfers(Kind.ACTIVATION, 0, 1)[0], 2_000_000) in rows


def test_legs_survive_the_wire_and_are_freed_together() -> None:
    compiled = two_stages(("a/0", "c/0"), [link("a", "b", 2), link("b", "c", 3, closed_ms=[[0, 1]])])
    data = json.loads(json.dumps(problem_to_json(compiled)))
    assert problem_to_json(problem_from_json(data)) == data
    free = free_links(compiled)
    assert [(hop.transfer_ns, hop.latency_ns) for hop in free.hops] == [(0, 0)] * 2
    assert not free.precedences.lag_ns.any()
    assert not free.operations.duration_ns[free.operations.kind >= Kind.ACTIVATION].any()
    assert not free.windowed


def test_replicas_share_each_leg_or_have_their_own() -> None:
    links = [link("a", "b", per_replica=True), link("b", "c")]
    compiled = two_stages(("a/0", "c/0"), links, parallel={"data": 2, "replica_messages": "separate"})
    lanes = [[compiled.resource_name(lane) for lane in leg.lanes] for leg in compiled.hops[0].legs]
    assert lanes == [["a-b/out (replica 0)", "a-b/out (replica 1)"], ["b-c/out", "b-c/out"]]
    merged = two_stages(("a/0", "c/0"), links, parallel={"data": 2})
    assert [leg.transfer_ns for leg in merged.hops[0].legs] == [1_000_000, 2_000_000]


def test_routes_that_make_a_problem_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 stages x 4 microbatches count as 40 at first; with three links each way they are 48 operations."""
    monkeypatch.setattr(compiling, "MOST_OPERATIONS", 47)
    links = [link("a", "b"), link("b", "c"), link("c", "d")]
    assert len(two_stages(("a/0", "c/0"), links, microbatches=4).operations) == 40
    with pytest.raises(TooLargeError, match="those of every link on the way of a message counted") as refused:
        two_stages(("a/0", "d/0"), links, microbatches=4)
    assert [(fault.pointer, fault.value) for fault in refused.value.faults] == [("/links", "48")]
