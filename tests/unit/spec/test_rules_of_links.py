"""Rules of links, alone and between them."""

from __future__ import annotations

import pytest
from tests.unit.spec.documents import document, faults, link

ONE_WAY = {"between": None, "from": "east", "to": "west"}
GROUP_ALONE = {"between": None, "group": "wan"}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"rtt_ms": 30},
        {"bandwidth_gbps": None},
        {"bandwidth_gbps": None, "transfer_ms": 0},
        {"bandwidth_gbps": None, "transfer_table": [[1, 2], [2, 2], [3, 5]]},
        {"between": ["east/0", "west/0"]},
        {"between": ["east/0", "west"]},
        {"between": None, "from": "east", "to": "west/0"},
        {**ONE_WAY, "group": "wan", "lane": "back"},
        {**GROUP_ALONE, "bandwidth_gbps": None},
        {**GROUP_ALONE, "closed_ms": [[0, 5]], "slow_ms": [[5, 9, 50]]},
        {"closed_ms": [[0, 5], [3, 8], [20, None]]},
        {"open_ms": [[0, 5]], "slow_ms": [[0, 5, 99.9]], "period_ms": 5, "anchor": "clock"},
        {"slow_ms": [[4, None, 1]]},
    ],
)
def test_legal_links(fields):
    assert faults(link(**fields)) == []


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"between": None}, [""]),
        ({"between": None, "from": "east"}, ["/to"]),
        ({"between": None, "to": "east", "group": "wan"}, ["/from"]),
        ({"from": "east", "to": "west"}, ["/from", "/to"]),
        ({"between": ["east", "east"]}, ["/between"]),
        ({**ONE_WAY, "to": "east"}, ["/to"]),
        ({"between": ["east/1", "west/0"]}, ["/between/0"]),
        ({"between": ["east/00", "west/0"]}, ["/between/0"]),
        ({"between": ["east/x", "north"]}, ["/between/0", "/between/1"]),
        ({"one_way_latency_ms": 15, "rtt_ms": 30}, ["/rtt_ms"]),
        ({"transfer_ms": 1, "transfer_table": [[1, 1]]}, ["/transfer_table"]),
        ({"bandwidth_gbps": None, "transfer_table": [[1, 1], [1, 2]]}, ["/transfer_table/1/0"]),
        ({"bandwidth_gbps": None, "transfer_table": [[1, 1], [2, 0]]}, ["/transfer_table/1/1"]),
        ({"bandwidth_gbps": None, "transfer_table": [[1]]}, ["/transfer_table/0"]),
        ({**GROUP_ALONE, "rtt_ms": 1, "transfer_ms": 1, "bandwidth_gbps": None}, ["/rtt_ms", "/transfer_ms"]),
        ({"lane": "out"}, ["/lane"]),
        ({**ONE_WAY, "lane": "out"}, ["/lane"]),
        ({"group": "wan", "lane": "out"}, ["/lane"]),
        ({"group": "wan/out"}, ["/group"]),
        ({"group": "a->b"}, ["/group"]),
    ],
)
def test_refused_links(fields, pointers):
    assert faults(link(**fields)) == [f"/links/0{pointer}" for pointer in pointers]


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"closed_ms": [[0, 5]], "open_ms": [[5, 9]]}, ["/open_ms"]),
        ({"closed_ms": [[5, 5]]}, ["/closed_ms/0/1"]),
        ({"closed_ms": [[0, 5], [5, 1]]}, ["/closed_ms/1/1"]),
        ({"closed_ms": [[0, 0.0000001]]}, ["/closed_ms/0/1"]),
        ({"closed_ms": [[0]]}, ["/closed_ms/0"]),
        ({"closed_ms": [[0, 1, 2]]}, ["/closed_ms/0"]),
        ({"slow_ms": [[0, 1]]}, ["/slow_ms/0"]),
        ({"closed_ms": [0, 1]}, ["/closed_ms/0", "/closed_ms/1"]),
        ({"closed_ms": [[None, 1]]}, ["/closed_ms/0/0"]),
        ({"closed_ms": [[0, None]], "period_ms": 9}, ["/closed_ms/0/1"]),
        ({"open_ms": [[0, 10]], "period_ms": 9}, ["/open_ms/0/1"]),
        ({"closed_ms": [[0, 1]], "period_ms": 0}, ["/period_ms"]),
        ({"period_ms": 9}, ["/period_ms"]),
        ({"closed_ms": [[0, 1]], "anchor": "clock"}, ["/anchor"]),
        ({"anchor": "clock", "period_ms": 9}, ["/period_ms"]),
        ({"bandwidth_gbps": None, "open_ms": [[0, 1]]}, ["/open_ms"]),
        ({"bandwidth_gbps": None, "slow_ms": [[0, 1, 1]]}, ["/slow_ms"]),
        ({"bandwidth_gbps": None, "transfer_ms": 0, "closed_ms": [[0, 1]]}, ["/transfer_ms"]),
        ({"bandwidth_gbps": None, "transfer_ms": 1, "slow_ms": [[0, 1, 1]]}, ["/slow_ms"]),
        ({**GROUP_ALONE, "bandwidth_gbps": None, "slow_ms": [[0, 1, 1]]}, ["/slow_ms"]),
        ({"slow_ms": [[0, 1, 50], [2, 3, 100]]}, ["/slow_ms/1/2"]),
        ({"slow_ms": [[0, 1, 0]]}, ["/slow_ms/0/2"]),
    ],
)
def test_refused_windows(fields, pointers):
    assert faults(link(**fields)) == [f"/links/0{pointer}" for pointer in pointers]


def pair(first, second):
    there = {"from": "east", "to": "west", "bandwidth_gbps": 10, "group": "wan", **first}
    back = {"from": "west", "to": "east", "bandwidth_gbps": 10, "group": "wan", **second}
    return document(links=[there, back])


@pytest.mark.parametrize(
    ("first", "second", "pointers"),
    [
        ({}, {}, []),
        ({}, {"bandwidth_gbps": 20}, []),
        ({"duplex": "half"}, {"duplex": "half"}, []),
        ({"duplex": "half"}, {}, ["/links/1/duplex"]),
        ({"per_replica": True}, {"duplex": "half"}, ["/links/1/duplex", "/links/1/per_replica"]),
        ({"closed_ms": [[0, 1]], "period_ms": 5}, {"closed_ms": [[0, 1]], "period_ms": 7}, []),
        (
            {"closed_ms": [[0, 1]], "period_ms": 5, "anchor": "clock"},
            {"closed_ms": [[0, 1]], "period_ms": 7, "anchor": "clock"},
            ["/links/1/period_ms"],
        ),
        (
            {"closed_ms": [[0, 1]], "period_ms": 5, "anchor": "clock"},
            {"closed_ms": [[0, 1]], "period_ms": 5},
            ["/links/1/anchor"],
        ),
        ({"closed_ms": [[0, 1]], "period_ms": 5, "anchor": "clock"}, {}, []),
        ({"slow_ms": [[0, 1, 1]]}, {}, []),
        ({"slow_ms": [[0, 1, 1]]}, {"bandwidth_gbps": 20}, ["/links/1/bandwidth_gbps"]),
    ],
)
def test_groups(first, second, pointers):
    assert faults(pair(first, second)) == pointers


def test_one_link_for_each_way():
    both = {"between": ["east", "west"], "bandwidth_gbps": 10}
    there = {"from": "east", "to": "west", "bandwidth_gbps": 10}
    device = {"between": ["east/0", "west/0"], "bandwidth_gbps": 10}
    assert faults(document(links=[both, device])) == []
    assert faults(document(links=[both, both])) == ["/links/1"]
    assert faults(document(links=[there, both])) == ["/links/1"]
    assert faults(document(links=[device, device])) == ["/links/1"]
    assert faults(document(links=[there, {**there, "from": "west", "to": "east"}])) == []


def test_a_group_is_not_called_like_another_links_channel():
    links = [{"between": ["east", "west"], "bandwidth_gbps": 10}, {"group": "east-west", "bandwidth_gbps": 10}]
    assert faults(document(links=links)) == ["/links/1/group"]
