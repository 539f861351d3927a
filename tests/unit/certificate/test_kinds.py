"""Each closed argument on a problem worked by hand: the number, and that it must be argued of the right thing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.bounds.specs import pipeline, split
from tests.unit.certificate.forging import certificate, of_kind

from crosspipe.certificate.verify import verify
from crosspipe.problem.problem import Objective, Problem

MS = 10**6


def two_sites(microbatches: int = 4, **link: Any) -> Problem:
    stage = split(2, 3, 1, activation_mb=2, retained_mb=1, boundary_mb=4)
    links = [{"between": ["d0", "d1"], "one_way_latency_ms": 5, "bandwidth_gbps": 8} | link]
    return pipeline([stage, stage], microbatches, memory_mb=4, links=links)


def test_device_load() -> None:
    """Device 1 waits for F and the latency (2 + 5), does all F and B (4 x 5), and leaves 5 + 3 + 1 to device 0."""
    problem = pipeline([split(2, 3, 1)] * 2, 4, latency_ms=5)
    given = of_kind(problem, "device load")
    assert given["bound_ns"] == (7 + 4 * 5 + 9) * MS
    assert verify(problem, given).bound_ns == given["bound_ns"]


def test_critical_path() -> None:
    """One microbatch: F, 4 + 5 over, F, B, 4 + 5 back, B, W."""
    problem = two_sites(1)
    given = of_kind(problem, "critical path")
    assert given["bound_ns"] == (2 + 9 + 2 + 3 + 9 + 3 + 1) * MS
    assert verify(problem, given).ok


def test_lane_load_counts_the_openings() -> None:
    """Open 4 of every 8 ms: messages of 4 ms take an opening each, those that come after 12 take 8 ms apiece."""
    problem = two_sites(closed_ms=[[0, 4]], period_ms=8)
    given = of_kind(problem, "lane load")
    part = given["parts"][0]
    messages = part["work_ns"] // (4 * MS)
    took = given["bound_ns"] - part["tail_ns"] - part["head_ns"]
    assert took == ((messages - 1) * 8 + 4) * MS
    assert verify(problem, given).ok
    ignored = part["head_ns"] + part["work_ns"] + part["tail_ns"]
    assert ignored < given["bound_ns"]


def test_last_forward() -> None:
    """Two activations of 2 fit in 4; of four, 4 MB must come back first: two backwards and two weights (8 ms)."""
    problem = two_sites()
    given = of_kind(problem, "last forward")
    part = given["parts"][0]
    assert (part["surplus"], part["backwards"], part["weights"], part["forwards"]) == (4 * MS, 2, 2, 1)
    assert given["bound_ns"] == part["first_backward_ns"] + (2 * 3 + 2 * 1 + 2) * MS + (
        part["round_trip_ns"] + part["backward_ns"] + part["tail_ns"]
    )
    assert verify(problem, given).ok


@pytest.mark.parametrize("objective", list(Objective))
@pytest.mark.parametrize("kind", ["start-up", "round trip", "last forward", "device load"])
def test_arguments_of_a_device_hold_for_both_objectives(kind: str, objective: Objective) -> None:
    problem = two_sites()
    given = of_kind(problem, kind, objective)
    assert verify(problem, given).ok


@pytest.mark.parametrize("kind", ["critical path", "lane load"])
def test_a_path_or_a_lane_says_nothing_of_the_span(kind: str) -> None:
    problem = two_sites()
    verdict = verify(problem, of_kind(problem, kind) | {"objective": "span"})
    assert not verdict.ok
    assert "span" in verdict.reason


def test_a_path_may_not_take_a_wait_for_another() -> None:
    problem = two_sites(1)
    given = of_kind(problem, "critical path")
    given["parts"][0]["waits"][1] = "memory"
    assert "does not wait" in verify(problem, given).reason


@pytest.mark.parametrize("kind", ["start-up", "last forward", "round trip"])
def test_stage_arguments_ask_for_microbatches_that_are_alike(kind: str) -> None:
    part = of_kind(two_sites(), kind)["parts"][0]
    unlike = two_sites({"multipliers": [1, 1, 1, 2], "order": "fixed"})  # type: ignore[arg-type]
    rest = {name: value for name, value in part.items() if name != "traversal"}
    verdict = verify(unlike, certificate(unlike, rest))
    assert not verdict.ok
    assert "alike" in verdict.reason


@pytest.mark.parametrize("kind", ["start-up", "last forward", "round trip"])
def test_stage_arguments_ask_for_a_limit(kind: str) -> None:
    problem = two_sites()
    given = of_kind(problem, kind)
    free = pipeline([split(2, 3, 1, activation_mb=2, retained_mb=1, boundary_mb=4)] * 2, 4, latency_ms=5)
    rest = {name: value for name, value in given["parts"][0].items() if name != "traversal"}
    verdict = verify(free, certificate(free, rest))
    assert not verdict.ok
    assert "nothing limits" in verdict.reason
