"""The load of another device within the time that one is held."""

from __future__ import annotations

from tests.unit.bounds.specs import pipeline, split
from tests.unit.certificate.forging import of_kind

from crosspipe.bounds.best import all_bounds, lower_bound
from crosspipe.certificate.verify import verify
from crosspipe.problem.problem import Objective

MS = 10**6


def test_the_first_device_waits_for_all_the_work_of_the_last() -> None:
    """Device 0 is held while F (2) goes over, device 1 does all F and B (4 x 5), B comes back (3) and W follows (1)."""
    problem = pipeline([split(2, 3, 1)] * 2, 4)
    bound = lower_bound(problem, Objective.SPAN)
    assert bound.value_ns == (2 + 4 * 5 + 3 + 1) * MS
    assert (bound.name, bound.where) == ("span load", "d1/0 while d0/0 is held")
    # The last backward belongs to the work or to the tail.
    numbers = [bound.data[name] for name in ("head_ns", "work_ns", "tail_ns")]
    assert numbers == [2 * MS, 17 * MS, 7 * MS]
    assert bound.data["operations"] == 7


def test_a_lane_counts_at_its_full_rate() -> None:
    """Messages of 4 ms each way share one lane: 2 + 8 x 4 + 3 + 1, whatever the windows."""
    link = {"between": ["d0", "d1"], "bandwidth_gbps": 8, "duplex": "half", "closed_ms": [[0, 50]]}
    problem = pipeline([split(2, 3, 1, boundary_mb=4, gradient_mb=4)] * 2, 4, links=[link])
    bound = lower_bound(problem, Objective.SPAN)
    assert bound.name == "span load"
    assert bound.data["resource"] == 2
    assert bound.value_ns == (2 + 32 + 3 + 1) * MS


def test_the_last_device_waits_for_nobody() -> None:
    """Nothing of device 0 must lie between the first start and the last end of device 1 but what comes back in time."""
    problem = pipeline([split(2, 3, 1)] * 2, 4)
    held = {bound.data["held"] for bound in all_bounds(problem, Objective.SPAN) if bound.name == "span load"}
    assert held == {0}


def test_it_says_nothing_of_the_makespan() -> None:
    problem = pipeline([split(2, 3, 1)] * 2, 4)
    given = of_kind(problem, "span load", Objective.SPAN)
    assert verify(problem, given).ok
    assert "makespan" in verify(problem, given | {"objective": "makespan"}).reason


def test_the_device_that_is_held_is_part_of_the_argument() -> None:
    problem = pipeline([split(2, 3, 1)] * 3, 4)
    given = of_kind(problem, "span load", Objective.SPAN)
    for held in (1, 2, 7):
        given["parts"][0]["held"] = held
        assert not verify(problem, given).ok
