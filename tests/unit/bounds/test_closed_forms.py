"""Values of the closed forms worked out by hand or published with the solver notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.bounds.specs import pipeline, problem_of, split

from crosspipe.bounds.best import all_bounds, lower_bound
from crosspipe.problem.problem import Objective, Problem

if TYPE_CHECKING:
    from crosspipe.bounds.bound import Bound

MS = 10**6


def largest(problem: Problem, name: str, objective: Objective = Objective.MAKESPAN) -> Bound:
    return max((b for b in all_bounds(problem, objective) if b.name == name), key=lambda bound: bound.value_ns)


def uniform(
    p: int, m: int, times: tuple[int, int, int], latency: int, room: float, held: tuple[int, int] = (2, 1)
) -> Problem:
    stage = split(*times, activation_mb=held[0], retained_mb=held[1])
    return pipeline([stage] * p, m, memory_mb=room, latency_ms=latency)


@pytest.mark.parametrize(
    ("p", "m", "times", "latency", "optimum"),
    [
        (8, 24, (20, 21, 15), 3, 1610),
        (16, 64, (20, 21, 15), 3, 4154),
        (16, 48, (11347, 11248, 8132), 377, 1714461),
        (16, 64, (11307, 11254, 8101), 379, 2202008),
        (16, 512, (20, 21, 15), 3, 29242),
        (32, 96, (10419, 10207, 7715), 408, 3171569),
    ],
)
def test_last_forward_equals_the_optimum_of_uniform_stages_at_the_memory_of_1f1b(
    p: int, m: int, times: tuple[int, int, int], latency: int, optimum: int
) -> None:
    found = lower_bound(uniform(p, m, times, latency, 2 * p), Objective.MAKESPAN)
    assert (found.name, found.value_ns) == ("last forward", optimum * MS)


@pytest.mark.parametrize(
    ("p", "m", "times", "latency", "optimum"),
    [
        (16, 64, (20, 21, 15), 3, 3929),
        (16, 48, (11347, 11248, 8132), 377, 1650756),
        (32, 96, (10419, 10207, 7715), 408, 3056373),
    ],
)
def test_device_load_equals_the_optimum_with_half_as_much_memory_again(
    p: int, m: int, times: tuple[int, int, int], latency: int, optimum: int
) -> None:
    found = lower_bound(uniform(p, m, times, latency, 3 * p), Objective.MAKESPAN)
    assert (found.name, found.value_ns) == ("device load", optimum * MS)


@pytest.mark.parametrize(("latency", "optimum"), [(10, 2236), (20, 2316), (40, 2476), (80, 2796)])
def test_one_slow_hop(latency: int, optimum: int) -> None:
    """Eight devices, sixteen microbatches, one hop whose latency and transfer are the same number."""
    stage = split(40, 42, 30, activation_mb=2, retained_mb=1, boundary_mb=latency)
    links = [{"between": [f"d{a}", f"d{a + 1}"], "one_way_latency_ms": 0} for a in range(7)]
    links[3] |= {"one_way_latency_ms": latency, "transfer_ms": latency}
    assert lower_bound(pipeline([stage] * 8, 16, memory_mb=16, links=links)).value_ns == optimum * MS


@pytest.mark.parametrize(
    ("devices", "memory_gb", "optimum_ns"),
    [
        (8, 32, 1_310_405_000),
        (8, 40, 1_236_541_000),
        (4, 40, 1_284_579_000),
        (4, 48, 1_253_204_000),
    ],
)
def test_the_zero_bubble_profile_on_one_and_two_sites(devices: int, memory_gb: int, optimum_ns: int) -> None:
    """Qi et al. 2024, 1.5B on eight devices; on two sites of four, 100 Gb/s and 15 ms apart."""
    site = {"devices": devices, "memory_gb": memory_gb, "hop_latency_ms": 0.601}
    stages = {"count": 8, "activation_mb": 3709, "retained_mb": 1359, "static_mb": 2250, "boundary_mb": 28.3}
    problem = problem_of(
        {
            "model": {"stages": stages | split(18.522, 18.086, 9.337)},
            "training": {"microbatches": 24},
            "sites": {"east": site} | ({"west": site} if devices == 4 else {}),
            "links": [{"between": ["east", "west"], "bandwidth_gbps": 100, "one_way_latency_ms": 15}] * (devices == 4),
        }
    )
    assert lower_bound(problem).value_ns == optimum_ns


def test_last_forward_adds_up_from_its_data() -> None:
    data = largest(uniform(8, 24, (20, 21, 15), 3, 16), "last forward").data
    assert data["surplus"] == (2 * 24 - 16) * MS
    value = (
        data["first_backward_ns"]
        + data["backwards"] * data["backward_ns"]
        + data["weights"] * data["weight_ns"]
        + data["forwards"] * data["forward_ns"]
        + data["round_trip_ns"]
        + data["backward_ns"]
        + data["tail_ns"]
    )
    assert value == 1610 * MS


def test_start_up_counts_the_forwards_that_fit_before_the_first_gradient() -> None:
    """Two stages of 10/1/1, latency 100, room for one microbatch: R = 10+100+10+1+100 = 221 on stage 0.

    Until then one forward (10 ms) of the 5 x 12 ms runs; the rest and nothing after it: 221 + 50.
    """
    stage = split(10, 1, 1, activation_mb=1)
    found = largest(pipeline([stage] * 2, 5, memory_mb=1, latency_ms=100), "start-up")
    assert found.where == "d0/0"
    assert found.data["forwards_before"] == 1
    assert found.value_ns == 271 * MS


def test_start_up_needs_every_stage_of_the_device_to_hold_something() -> None:
    stages = [split(1, 1, 1, activation_mb=1), split(1, 1, 1, backward_extra_mb=1)]
    assert "start-up" not in {bound.name for bound in all_bounds(pipeline(stages, 3, places=[0, 0], memory_mb=2))}
    held = [stages[0], stages[0]]
    assert "start-up" in {bound.name for bound in all_bounds(pipeline(held, 3, places=[0, 0], memory_mb=2))}


def test_round_trips_follow_each_other_when_one_microbatch_fits() -> None:
    """The same: five round trips of 221 from F to B, each with its B; then the last W."""
    stage = split(10, 1, 1, activation_mb=1)
    found = largest(pipeline([stage] * 2, 5, memory_mb=1, latency_ms=100), "round trip")
    assert found.data["turns"] == 4
    assert found.value_ns == (5 * 222 + 1) * MS


def test_memory_in_order_says_what_the_round_trip_says() -> None:
    stage = split(10, 1, 1, activation_mb=1)
    problem = pipeline([stage] * 2, 5, memory_mb=1, latency_ms=100)
    path = largest(problem, "critical path")
    # W holds the activation here, so that each F waits for the W before it, which the round trip leaves out.
    assert path.value_ns == 5 * 223 * MS
    assert "memory" in path.data["waits"]


def test_a_path_adds_up_from_its_operations() -> None:
    problem = pipeline([split(3, 2, 1)] * 3, 2, latency_ms=5)
    path = largest(problem, "critical path")
    assert path.value_ns == (3 * 5 + 4 * 5 + 3 + 1) * MS
    assert path.data["waits"].count("order") == 1
    assert problem.label(path.data["operations"][0]) in path.where


def test_a_path_through_a_device_is_not_called_its_load() -> None:
    """One message after another on a thin link makes the step long; both devices are nearly idle."""
    stage = split(1, 1, 1, boundary_mb=100)
    problem = pipeline([stage] * 2, 6, links=[{"between": ["d0", "d1"], "bandwidth_gbps": 10}])
    best = lower_bound(problem)
    assert best.name == "critical path"
    assert {b.name for b in all_bounds(problem) if b.value_ns == best.value_ns} > {"critical path", "device load"}
    # 80 ms on the link for each of six activations; F before them, F, B, the last gradient, B and W after.
    assert best.value_ns == (1 + 6 * 80 + 1 + 1 + 80 + 1 + 1) * MS


@pytest.mark.parametrize(("p", "m"), [(1, 1), (1, 4), (4, 1), (4, 6)])
def test_no_memory_limit_leaves_loads_and_paths(p: int, m: int) -> None:
    names = {bound.name for bound in all_bounds(pipeline([split(2, 2, 2, activation_mb=1)] * p, m))}
    assert names == {"device load", "critical path", "energy"}


def test_unlike_microbatches_have_no_closed_form() -> None:
    stage = split(2, 2, 2, activation_mb=1)
    problem = pipeline([stage] * 2, {"multipliers": [1, 2, 1], "order": "fixed"}, memory_mb=3)
    assert {bound.name for bound in all_bounds(problem)} == {"device load", "critical path"}


def test_a_backward_that_takes_more_than_it_gives_frees_nothing_before_its_weight_part() -> None:
    """F takes 1, B 2 more, W gives back 3: before the fourth F in a room of 3, one B and its W have run."""
    stage = split(5, 1, 1, activation_mb=1, backward_extra_mb=2)
    found = largest(pipeline([stage], 4, memory_mb=3), "last forward")
    assert (found.data["backwards"], found.data["weights"]) == (1, 1)


def test_room_for_all_microbatches_needs_no_release() -> None:
    stage = split(5, 1, 1, activation_mb=1)
    assert "last forward" not in {bound.name for bound in all_bounds(pipeline([stage], 3, memory_mb=3))}


@pytest.mark.parametrize("objective", Objective)
def test_times_beyond_64_bits_stay_exact(objective: Objective) -> None:
    small = pipeline([split(1, 1, 1, activation_mb=2, retained_mb=1)] * 8, 24, memory_mb=16)
    operations = replace(small.operations, duration_ns=small.operations.duration_ns * 10**12)
    problem = replace(small, operations=operations)
    assert lower_bound(problem, objective).value_ns == lower_bound(small, objective).value_ns * 10**12


def test_span_counts_the_round_trip_a_device_sits_out() -> None:
    """One microbatch, two devices, latency 7: device 0 is held F + 7 + F + B + 7 + B + W."""
    problem = pipeline([split(1, 2, 3)] * 2, 1, latency_ms=7)
    found = lower_bound(problem, Objective.SPAN)
    assert (found.value_ns, found.where) == ((1 + 7 + 1 + 2 + 7 + 2 + 3) * MS, "d0/0")


def test_span_leaves_out_what_lies_before_the_first_start() -> None:
    """A gather before stage 1 delays device 1 as a whole; its own span is its work."""
    extra = [{"name": "gather", "duration_ms": 100, "before": [1]}]
    problem = pipeline([split(1, 1, 1)] * 2, 2, extra_operations=extra)
    assert lower_bound(problem, Objective.MAKESPAN).value_ns == 106 * MS
    last = [b for b in all_bounds(problem, Objective.SPAN) if b.where == "d1/0"]
    assert max(b.value_ns for b in last) == 6 * MS


def test_windows_beyond_64_bits_stay_exact() -> None:
    """Half of every period of 10^11 ms is closed: twelve transfers of half a period wait for twelve openings."""
    half = 5 * 10**10
    link = {"between": ["d0", "d1"], "transfer_ms": half, "period_ms": 2 * half, "closed_ms": [[half, 2 * half]]}
    frozen = {"forward_ms": 1, "frozen": True}
    found = lower_bound(pipeline([frozen, split(1, 1, 1)], 12, links=[link]))
    # The first F ends inside the first opening, so that openings 2 to 13 carry the messages.
    assert found.value_ns == (12 * 2 * half + half + 3) * MS
