"""Notices: each trap is told once, with its numbers, and plain specs step into none."""

from __future__ import annotations

import pytest
from tests.unit.spec.documents import ARCHITECTURE, MEASURED, document, link, stage

from crosspipe.spec.load import parse_spec
from crosspipe.spec.notices import spec_notices


def notices(source):
    return [(notice.code, notice.pointer) for notice in spec_notices(parse_spec(source))]


def message(source):
    (notice,) = spec_notices(parse_spec(source))
    return notice.message


@pytest.mark.parametrize("text", [ARCHITECTURE, MEASURED])
def test_the_examples_step_into_no_trap(text):
    assert notices(text) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"one_way_latency_ms": 150}, []),
        ({"one_way_latency_ms": 223}, [("rtt_as_one_way", "/links/0/one_way_latency_ms")]),
        ({"rtt_ms": 223}, []),
        ({"one_way_latency_ms": 2147483647}, [("unreachable_as_latency", "/links/0/one_way_latency_ms")]),
        ({"rtt_ms": 65535}, [("unreachable_as_latency", "/links/0/rtt_ms")]),
        ({"one_way_latency_ms": None}, [("latency_missing", "/links/0")]),
        ({"bandwidth_gbps": 3200}, []),
        ({"bandwidth_gbps": 100000}, [("bandwidth_implausible", "/links/0/bandwidth_gbps")]),
        ({"between": ["east/0", "west/0"], "one_way_latency_ms": 223}, []),
    ],
)
def test_one_link(fields, expected):
    latency = {} if "rtt_ms" in fields else {"one_way_latency_ms": 15}
    found = notices(link(**latency | fields))
    assert [notice for notice in found if notice[0] != "hop_above_ten_forwards"] == expected


def test_directions_far_apart():
    there = {"from": "east", "to": "west", "bandwidth_gbps": 100, "one_way_latency_ms": 5}
    back = {"from": "west", "to": "east", "bandwidth_gbps": 2, "one_way_latency_ms": 5}
    assert notices(document(links=[there, back])) == [("bandwidth_asymmetric", "/links/1/bandwidth_gbps")]
    assert "50 times as much" in message(document(links=[there, back]))
    assert notices(document(links=[there, {**back, "bandwidth_gbps": 10}])) == []


def table(latencies, rates):
    names = [f"s{number}" for number in range(len(rates) + 1)]
    ways = zip(names, names[1:], latencies, rates, strict=False)
    links = [{"between": [a, b], "one_way_latency_ms": latency, "bandwidth_gbps": rate} for a, b, latency, rate in ways]
    model = {"stages": [stage(forward_ms=1000)]}
    return document(model=model, sites={name: {"devices": 1} for name in names}, links=links)


def test_outliers_of_a_table():
    assert notices(table([3, 4, 5, 6], [2, 2, 1.5, 1])) == []
    assert notices(table([3, 4, 5, 120], [2, 2, 1.5, 1])) == [("latency_outlier", "/links/3/one_way_latency_ms")]
    assert notices(table([3, 4, 5, 6], [2, 2, 1.5, 0.002])) == [("bandwidth_outlier", "/links/3/bandwidth_gbps")]
    assert notices(table([3, 4, 120], [2, 2, 0.002])) == []


def hop(**fields):
    parallel = fields.pop("parallel", {})
    given = {"between": ["east", "west"], "one_way_latency_ms": 5, **fields}
    return document(links=[given], parallel=parallel)


def test_a_hop_above_ten_forwards():
    assert notices(hop(bandwidth_gbps=10)) == []
    assert notices(hop(bandwidth_gbps=1)) == [("hop_above_ten_forwards", "/links/0")]
    assert "12.5 MB between east and west takes 100 ms on the link and 5 ms of latency, 10.5 times" in message(
        hop(bandwidth_gbps=1)
    )
    assert "in bytes, it would be 12.5 ms" in message(hop(bandwidth_gbps=1))
    assert notices(hop(transfer_ms=96)) == [("hop_above_ten_forwards", "/links/0")]
    assert notices(hop(transfer_table=[[1, 20], [12, 96], [20, 200]])) == [("hop_above_ten_forwards", "/links/0")]
    assert notices(hop(transfer_table=[[13, 200]])) == []


def test_a_shared_link_carries_the_messages_of_all_replicas():
    assert notices(hop(bandwidth_gbps=10, parallel={"data": 16})) == [("hop_above_ten_forwards", "/links/0")]
    assert "x 16 replicas" in message(hop(bandwidth_gbps=10, parallel={"data": 16}))
    assert notices(hop(bandwidth_gbps=10, per_replica=True, parallel={"data": 16})) == []
    assert notices(hop(bandwidth_gbps=10, parallel={"data": 16, "replica_messages": "separate"})) == []


def test_equal_times():
    equal = stage(forward_ms=10, backward_weight_ms=10)
    assert notices(document(model={"stages": [stage(), equal]})) == [("equal_times", "/model/stages/1")]
    assert "in 1 of 2 stages" in message(document(model={"stages": [stage(), equal]}))
    assert notices(document(model={"stages": {"count": 2, **equal}})) == [("equal_times", "/model/stages")]


@pytest.mark.parametrize(
    ("memory", "code"),
    [
        (80, None),
        (85.9, "memory_is_whole_card"),
        (34.36, "memory_is_whole_card"),
        (86, None),
        (640, None),
        (81920, "memory_implausible"),
        (None, None),
    ],
)
def test_memory(memory, code):
    pools = {"pools": [{"devices": 1}, {"devices": 1, "memory_gb": memory}]}
    expected = [] if code is None else [(code, "/sites/east/pools/1/memory_gb")]
    assert notices(document(sites={"east": pools, "west": {"devices": 1}})) == expected


def test_a_boundary_of_one_gpu():
    training = {"microbatches": 4, "microbatch": 1, "sequence_length": 4096}
    shard = {"stages": [stage(boundary_mb=8.388608), stage()]}
    whole = {"stages": [stage(boundary_mb=67.108864), stage()]}
    given = {"training": training, "parallel": {"tensor": 8}}
    assert notices(document(model=shard, **given)) == [("boundary_per_gpu", "/model/stages/0/boundary_mb")]
    assert "hidden size of 1024" in message(document(model=shard, **given))
    assert "shard of 8192" in message(document(model=shard, **given))
    assert notices(document(model=whole, **given)) == []
    assert notices(document(model=shard, training=training)) == []


def test_a_named_card_is_compared_with_the_catalogue_instead():
    assert notices(document(sites={"east": {"devices": 2, "memory_gb": 85.9, "gpu": "h100-80gb"}}, links=[])) == []
