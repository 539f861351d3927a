"""How often a microbatch crosses between sites, by how its stages are laid out."""

from __future__ import annotations

from typing import Any

import pytest
from tests.building import STAGE, spec_data

from crosspipe.answer.solve import solve

SITES = {"east": {"devices": 2}, "west": {"devices": 2}}
LINKS = [{"between": ["east", "west"], "one_way_latency_ms": 5, "bandwidth_gbps": 100}]


def answer(stages: int, **placement: Any) -> Any:
    spec = spec_data([STAGE] * stages, 4, sites=SITES, links=LINKS, placement=placement)
    return solve(spec, time_limit_s=0)


@pytest.mark.parametrize(
    ("traversal", "stages", "crossings"), [("unidirectional", 4, 2), ("wave", 8, 4), ("loop", 8, 6)]
)
def test_a_traversal_says_how_often_a_microbatch_crosses(traversal: str, stages: int, crossings: int) -> None:
    """Two sites of two devices: over the middle; there and back; over the middle, around, over the middle again."""
    found = answer(stages, traversal=traversal)
    assert (found.traversal, found.crossings) == (traversal, crossings)
    assert found.crossings == sum(hop.link == "east-west" for hop in found.hops)


def test_the_placements_compared_differ_in_their_crossings() -> None:
    assert {row.traversal: row.crossings for row in answer(8).placements} == {"loop": 6, "wave": 4}


def test_a_hand_over_on_one_device_crosses_nothing() -> None:
    """In a wave the last device of the west holds both stages at the turn, the first of the east the first and last."""
    turn = [hop for hop in answer(8, traversal="wave").hops if hop.boundary == 3]
    assert [(hop.link, hop.transfer_ms, hop.latency_ms) for hop in turn] == [(None, 0, 0)] * 2
    spec = spec_data(2, 4, sites=SITES, links=LINKS, placement={"map": ["west/0", "west/0"]})
    assert solve(spec, time_limit_s=0).crossings == 0


def test_a_message_over_two_links_crosses_once_and_a_frozen_stage_sends_nothing_back() -> None:
    frozen = {"forward_ms": 1, "activation_mb": 1, "frozen": True}
    sites = {"a": {"devices": 1}, "b": {"devices": 1}, "c": {"devices": 1}}
    links = [LINKS[0] | {"between": ["a", "b"]}, LINKS[0] | {"between": ["b", "c"]}]
    spec = spec_data([frozen, STAGE], 2, sites=sites, links=links, placement={"map": ["a/0", "c/0"]})
    found = solve(spec, time_limit_s=0)
    assert (found.crossings, [hop.link for hop in found.hops]) == (1, ["a-b, b-c"])
