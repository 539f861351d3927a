"""Clock-anchored windows: whatever the phase at which a step begins, its orders take no longer than was told."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.building import STAGE, problem

from crosspipe.families.greedy import greedy
from crosspipe.families.settings import Settings
from crosspipe.problem.calendar import LaneCalendar
from crosspipe.problem.links import Lane, Window
from crosspipe.schedule.measure import makespan_ns
from crosspipe.schedule.replay import replay

MS = 10**6
PHASES = 50


def _drawn(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A spec without its link, and a link whose windows repeat: closed for a while, and slower for another."""
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    stages = [STAGE | {"forward_ms": rng.randint(1, 4), "boundary_mb": rng.randint(1, 4)} for _ in range(3)]
    sites = {name: {"devices": 1} for name in ("a", "b", "c")}
    period = rng.randint(12, 30)
    start = rng.randint(0, period - 6)
    link = {
        "bandwidth_gbps": 8,
        "one_way_latency_ms": rng.randint(0, 3),
        "period_ms": period,
        "closed_ms": [[start, start + rng.randint(1, 3)]],
        "slow_ms": [[start + 4, start + 6, 4]],
        "group": "wan",
    }
    return {"stages": stages, "microbatches": rng.randint(2, 6), "sites": sites}, link


def _begun_at(link: dict[str, Any], phase: int) -> dict[str, Any]:
    """The windows as a step sees them that begins at this moment (ms) of their period."""
    period = link["period_ms"]

    def seen(start: int, end: int) -> list[list[int]]:
        first = (start - phase) % period
        last = first + end - start
        return [[first, last]] if last <= period else [[first, period], [0, last - period]]

    return link | {
        "closed_ms": [part for start, end in link["closed_ms"] for part in seen(start, end)],
        "slow_ms": [[*part, rate] for start, end, rate in link["slow_ms"] for part in seen(start, end)],
    }


def _pairs(link: dict[str, Any]) -> list[dict[str, Any]]:
    return [link | {"between": pair} for pair in (["a", "b"], ["b", "c"])]


@pytest.mark.parametrize("seed", range(12))
def test_no_phase_takes_longer_than_what_is_told(seed: int) -> None:
    spec, link = _drawn(seed)
    planned = problem(**spec, links=_pairs(link | {"anchor": "clock"}))
    assert planned.robust
    orders = greedy(planned, Settings())
    told_ns = makespan_ns(replay(planned, orders))
    for phase in random.Random(seed).choices(range(link["period_ms"]), k=PHASES):  # noqa: S311  # as above
        met = problem(**spec, links=_pairs(_begun_at(link, phase)))
        assert met.windowed
        assert makespan_ns(replay(met, orders)) <= told_ns


@pytest.mark.parametrize("seed", range(12))
def test_the_worst_phase_takes_what_is_reserved(seed: int) -> None:
    spec, link = _drawn(seed)
    planned = problem(**spec, links=_pairs(link | {"anchor": "clock"}))
    assert {worst.lane for worst in planned.worst_phases} == {lane.name for lane in planned.lanes}
    longest_ms = max(stage["boundary_mb"] for stage in spec["stages"][:-1])
    for worst in planned.worst_phases:
        assert worst.transfer_ns == longest_ms * MS
        assert 0 <= worst.phase_ns < worst.period_ns == link["period_ms"] * MS
        windows = [Window(s * MS, e * MS, 0, worst.period_ns) for s, e in link["closed_ms"]]
        windows += [Window(s * MS, e * MS, rate * 10**9, worst.period_ns) for s, e, rate in link["slow_ms"]]
        calendar = LaneCalendar(Lane("wan", "wan", None, 8 * 10**9, tuple(windows)))
        start = calendar.start(worst.phase_ns, worst.transfer_ns)
        assert start is not None
        assert calendar.end(start, worst.transfer_ns) - worst.phase_ns == worst.reserved_ns
