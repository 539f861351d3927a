"""Energy by hand: what memory makes a device do first, and when it says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.bounds.specs import pipeline, split
from tests.unit.certificate.forging import certificate, of_kind

from crosspipe.bounds.best import all_bounds
from crosspipe.bounds.energy import energy
from crosspipe.bounds.energy_machine import machines
from crosspipe.bounds.energy_times import energy_times
from crosspipe.bounds.graph import graph_of
from crosspipe.bounds.timing import device_timing, timing
from crosspipe.certificate.energy import times_by_energy
from crosspipe.certificate.subject import Subject
from crosspipe.certificate.verdict import MOST_WORK, Budget
from crosspipe.certificate.verify import verify
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.bounds.bound import Bound
    from crosspipe.bounds.timing import Timing
    from crosspipe.problem.problem import Problem

MS = 10**6


def found(problem: Problem) -> Bound:
    (bound,) = [bound for bound in all_bounds(problem) if bound.name == "energy"]
    return bound


def raised(problem: Problem, held: int | None = None) -> Timing:
    graph = graph_of(problem)
    laid_out = machines(graph)
    assert laid_out is not None
    if held is None:
        return energy_times(graph, timing(graph), laid_out, problem.lanes)
    (times,) = device_timing(graph, [held])
    return energy_times(graph, times, laid_out, ())


def number(problem: Problem, kind: Kind, stage: int, microbatch: int) -> int:
    return int(problem.numbers[kind, 0, stage, microbatch])


def test_memory_makes_backward_and_weight_run_before_the_next_forward() -> None:
    """F 2, B 3, W 4 on one device; a = 2, of which W gives back 1; room 4.

    Before F(2): two F and one B and W (2 MB), or two B (2 MB); the latter take 2 + 2 + 3 + 3 = 10. Its own end is at
    12; F(3) asks for 4 MB back, so two B and two W at least: 3 F, 2 B, 2 W are 20, or three B and one W: 6 + 9 + 4.
    """
    problem = pipeline([split(2, 3, 4, activation_mb=2, retained_mb=1)], 4, memory_mb=4)
    head = raised(problem).head
    assert head[number(problem, Kind.F, 0, 2)] == 10 * MS
    assert head[number(problem, Kind.F, 0, 3)] == 19 * MS


def test_a_tail_counts_the_forwards_that_must_wait() -> None:
    """Room for one microbatch: after B(0), three F, B and W follow, and its own W: 3 x 9 + 4."""
    problem = pipeline([split(2, 3, 4, activation_mb=1)], 4, memory_mb=1)
    tail = raised(problem).tail
    assert tail[number(problem, Kind.B, 0, 0)] == (3 * 9 + 4) * MS
    # W(0) may run before F(1), so only B(1), W(1) and the last two microbatches must follow it.
    assert tail[number(problem, Kind.F, 0, 1)] == (3 + 4 + 2 * 9) * MS


WAVE: dict[str, Any] = {
    "places": [0, 1, 1, 0],
    "memory_mb": 4,
    "links": [{"between": ["d0", "d1"], "bandwidth_gbps": 8, "one_way_latency_ms": 2}],
}


def test_it_beats_every_closed_form_where_a_device_holds_two_stages() -> None:
    problem = pipeline([split(2, 2, 2, activation_mb=1, boundary_mb=1, gradient_mb=1)] * 4, 6, **WAVE)
    others = [bound.value_ns for bound in all_bounds(problem) if bound.name != "energy"]
    assert found(problem).value_ns > max(others)


def test_the_bound_adds_up_and_names_its_device() -> None:
    problem = pipeline([split(2, 2, 2, activation_mb=1, boundary_mb=1, gradient_mb=1)] * 4, 6, **WAVE)
    bound = found(problem)
    assert bound.where == problem.resource_name(int(str(bound.data["resource"])))
    assert bound.value_ns == sum(int(str(bound.data[name])) for name in ("head_ns", "work_ns", "tail_ns"))


UNLIKE = [
    split(2, 3, 4, activation_mb=2, retained_mb=1, backward_extra_mb=1, boundary_mb=2),
    split(1, 2, 1, activation_mb=2, retained_mb=0, boundary_mb=1, gradient_mb=3),
    split(3, 1, 2, activation_mb=1, retained_mb=1, backward_extra_mb=2),
    split(1, 4, 1, activation_mb=1),
]


@pytest.mark.parametrize("memory_mb", [4, 5, 7, None])
@pytest.mark.parametrize("held", [None, 0, 1])
def test_the_certificate_derives_the_same_heads_and_tails(memory_mb: float | None, held: int | None) -> None:
    problem = pipeline(UNLIKE, 6, **(WAVE | {"memory_mb": memory_mb}))
    objective = Objective.MAKESPAN if held is None else Objective.SPAN
    solver, own = raised(problem, held), times_by_energy(Subject(problem, objective, Budget(MOST_WORK)), held)
    for times, derived in ((solver.head, own.head), (solver.tail, own.tail)):
        assert [max(time, -1) for time in times.tolist()] == [max(time, -1) for time in derived]


def test_unlike_microbatches_have_none() -> None:
    stage = split(2, 2, 2, activation_mb=1)
    problem = pipeline([stage] * 2, {"multipliers": [1, 2, 1], "order": "fixed"}, memory_mb=3)
    graph = graph_of(problem)
    assert energy(graph, timing(graph)) is None
    known = pipeline([stage] * 2, 3, memory_mb=3)
    rest = {name: value for name, value in of_kind(known, "energy")["parts"][0].items() if name != "traversal"}
    verdict = verify(problem, certificate(problem, rest))
    assert not verdict.ok
    assert "alike" in verdict.reason


def test_for_the_span_it_speaks_of_a_device_that_is_held() -> None:
    problem = pipeline(UNLIKE, 6, **WAVE)
    bounds = all_bounds(problem, Objective.SPAN)
    (bound,) = [bound for bound in bounds if bound.name == "energy"]
    assert bound.data["held"] == 0
    assert bound.value_ns > max(other.value_ns for other in bounds if other is not bound)
    assert verify(problem, of_kind(problem, "energy", Objective.SPAN)).ok


@pytest.mark.parametrize("objective", list(Objective))
def test_heads_of_one_objective_are_not_those_of_the_other(objective: Objective) -> None:
    problem = pipeline(UNLIKE, 6, **WAVE)
    other = next(one for one in Objective if one is not objective)
    assert not verify(problem, of_kind(problem, "energy", objective) | {"objective": other.value}).ok


def test_operations_of_no_length_ask_for_nothing() -> None:
    """What a backward of no length gives back counts at the moment a forward starts."""
    problem = pipeline([split(2, 0, 0, activation_mb=1)], 4, memory_mb=1)
    assert found(problem).value_ns == 8 * MS


def test_times_and_amounts_that_64_bits_cannot_add_up_are_left_to_other_bounds() -> None:
    stage = split(10**10, 10**10, 10**10, activation_mb=1)
    assert all(bound.name != "energy" for bound in all_bounds(pipeline([stage], 4, memory_mb=2)))
    large = pipeline([split(2, 3, 4, activation_mb=2 * 10**11)], 4, memory_mb=2 * 10**11)
    small = pipeline([split(2, 3, 4, activation_mb=2)], 4, memory_mb=2)
    assert found(large).value_ns <= found(small).value_ns
    assert verify(large, of_kind(large, "energy")).ok
