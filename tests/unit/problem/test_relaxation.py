"""Which problem asks no more than which: told for each limit and time, and never where the checker disagrees."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import Any

import pytest
from tests.building import STAGE, spec_data
from tests.property.tiny_specs import tiny_spec, with_unlike_microbatches

from crosspipe.answer.solve import check, solve
from crosspipe.costs.expand import expand
from crosspipe.problem.compile import compile_spec
from crosspipe.problem.free import free_links
from crosspipe.problem.operations import Operations
from crosspipe.problem.problem import Problem
from crosspipe.problem.relaxation import relaxes
from crosspipe.spec.load import parse_spec


def compiled(spec: dict[str, Any]) -> Problem:
    return compile_spec(expand(parse_spec(spec)).spec, "test")[0]


def two_sites(**changes: Any) -> dict[str, Any]:
    link = {"between": ["a", "b"], "bandwidth_gbps": 8, "one_way_latency_ms": 3, "duplex": "half"}
    stage = STAGE | {"boundary_mb": 1, "recompute_option": {"activation_mb": 0.5, "recompute_ms": 1}}
    base: dict[str, Any] = {
        "sites": {"a": {"devices": 1, "memory_gb": 0.003}, "b": {"devices": 1, "memory_gb": 0.003}},
        "links": [link | changes.pop("link", {})],
        "limits": {"in_flight": 3, "deadline_ms": 100},
    }
    return spec_data([stage, stage], changes.pop("microbatches", 4), **(base | changes))


def memory(gb: float) -> dict[str, Any]:
    return {"sites": {"a": {"devices": 1, "memory_gb": gb}, "b": {"devices": 1, "memory_gb": gb}}}


SHUT = {"closed_ms": [[5, 9]]}

EASIER = [
    pytest.param(memory(0.004), memory(0.003), id="more memory"),
    pytest.param({"link": {"one_way_latency_ms": 2}}, {}, id="shorter latency"),
    pytest.param({"link": {"bandwidth_gbps": 16}}, {}, id="more bandwidth"),
    pytest.param({"link": {"bandwidth_gbps": None}}, {}, id="no transfer time"),
    pytest.param({"link": {"duplex": "full"}}, {}, id="a lane for each direction"),
    pytest.param({"limits": {"in_flight": 4, "deadline_ms": 100}}, {}, id="more in flight"),
    pytest.param({"limits": {"in_flight": 3, "deadline_ms": 200}}, {}, id="a later deadline"),
    pytest.param({"limits": {}}, {}, id="no limits"),
    pytest.param({}, {"link": SHUT}, id="an opened window"),
    pytest.param({"link": SHUT | {"bandwidth_gbps": 16}}, {"link": SHUT}, id="more bandwidth while it is open"),
]


@pytest.mark.parametrize(("easier", "harder"), EASIER)
def test_what_asks_less_is_known_and_what_asks_more(easier: dict[str, Any], harder: dict[str, Any]) -> None:
    one, other = compiled(two_sites(**easier)), compiled(two_sites(**harder))
    assert relaxes(one, other)
    assert not relaxes(other, one)


@pytest.mark.parametrize(
    "changes",
    [{"microbatches": 3}, {"microbatches": 5}, {"placement": {"map": ["b/0", "a/0"]}}, {"link": SHUT}],
    ids=str,
)
def test_what_is_another_task_asks_no_less(changes: dict[str, Any]) -> None:
    assert not relaxes(compiled(two_sites(**changes)), compiled(two_sites()))


def test_without_a_link_there_is_no_schedule_to_be_had() -> None:
    joined = two_sites()
    assert not relaxes(compiled(joined | {"links": []}), compiled(joined))


def test_a_slower_window_makes_bandwidths_incomparable() -> None:
    """Durations count at the lane's full rate, so a shorter one may take longer while the lane is slow."""
    slow = {"slow_ms": [[5, 9, 1]]}
    assert not relaxes(compiled(two_sites(link=slow | {"bandwidth_gbps": 16})), compiled(two_sites(link=slow)))
    assert relaxes(compiled(two_sites(link=slow)), compiled(two_sites(link=slow)))


@pytest.mark.parametrize("seed", range(30))
def test_every_problem_asks_no_more_than_itself_and_no_less_with_free_links(seed: int) -> None:
    problem = compiled(tiny_spec(seed, devices=2, most_microbatches=3))
    assert relaxes(problem, problem)
    assert relaxes(free_links(problem), problem)


def changed(spec: dict[str, Any], seed: int) -> dict[str, Any]:
    """The spec with some of its limits and times moved, up or down."""
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    sites = {
        name: site | {"memory_gb": site["memory_gb"] * rng.choice([1, 1, 2])} for name, site in spec["sites"].items()
    }
    links = [
        link
        | {"one_way_latency_ms": link["one_way_latency_ms"] + rng.choice([-1, 0, 0, 1])}
        | {"bandwidth_gbps": rng.choice([8, 8, 16, 4])}
        | {"duplex": rng.choice([link["duplex"], "full"])}
        for link in spec["links"]
        if link["one_way_latency_ms"]
    ]
    return spec | {"sites": sites, "links": links} if len(links) == len(spec["links"]) else spec


def test_schedules_of_the_harder_are_schedules_of_the_easier_at_their_own_times() -> None:
    """By the checker, which shares no code with this; most pairs of random specs are not comparable."""
    comparable = 0
    for seed in range(60):
        spec = tiny_spec(seed, devices=2, most_microbatches=4)
        if seed % 3 == 0:
            spec = with_unlike_microbatches(spec, seed)
        other = changed(spec, seed)
        if not relaxes(compiled(other), compiled(spec)):
            continue
        answer = solve(spec, time_limit_s=0)
        if not answer.devices:
            continue
        comparable += 1
        verdict = check(other, {"operations": rows(answer.model_dump(), compiled(other))})
        assert verdict.ok, (seed, verdict.violations[:2])
        assert verdict.makespan_ms is not None
        assert answer.makespan_ms is not None
        assert verdict.makespan_ms <= answer.makespan_ms
    assert comparable >= 10


def rows(answer: dict[str, Any], problem: Problem) -> list[list[object]]:
    """Start times of an answer, without the messages that take no time in the problem."""
    found: list[list[object]] = [["extra", row["name"], row["start_ms"]] for row in answer["extra_operations"]]
    for place in (*answer["devices"], *answer["transfers"]):
        table = place["operations"]
        for at, kind in enumerate(table["kind"]):
            if kind != "extra":
                replica = table["replica"][at] if "replica" in table else place["replica"]
                found.append([kind, table["stage"][at], table["microbatch"][at], replica, table["start_ms"][at]])
    assert len(found) == len(problem.operations)
    return found


def test_every_part_of_a_problem_is_compared_or_only_told() -> None:
    """A new one must be thought of: what may it do to a schedule whose start times are kept?"""
    compared = {
        *("traversal", "stages", "multipliers", "replicas", "merged_replicas", "devices", "lanes", "operations"),
        *("precedences", "pools", "holdings", "chains_required", "choices", "extras", "due_ns", "robust", "recomputed"),
    }
    told = {"digest", "hops", "tokens_per_step", "between_sites", "worst_phases"}
    free_or_index_order = {"chains"}
    assert {field.name for field in fields(Problem)} == compared | told | free_or_index_order
    assert {field.name for field in fields(Operations)} == {
        *("kind", "stage", "microbatch", "replica", "leg"),
        *("duration_ns", "resource"),
    }
