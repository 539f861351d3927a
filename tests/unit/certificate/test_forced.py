"""What memory forces: worked by hand, and the same as the solver's own rules find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.golden.compiled import compile_all, problem_of
from tests.property.random_specs import random_spec
from tests.unit.bounds.specs import pipeline, split

from crosspipe.bounds.memory_order import memory_order
from crosspipe.bounds.stage_memory import stage_memories
from crosspipe.certificate.forced import forced_pairs
from crosspipe.certificate.relaxation import settled
from crosspipe.certificate.sequence import microbatches_alike, ordered_classes
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

Pairs = set[tuple[int, int]]


def forced(problem: Problem) -> Pairs:
    return forced_pairs(problem, ordered_classes(problem), microbatches_alike(problem))


def named(problem: Problem, pairs: Pairs) -> set[tuple[str, str]]:
    def name(number: int) -> str:
        ops = problem.operations
        return f"{Kind(int(ops.kind[number])).name}{ops.stage[number]}({ops.microbatch[number]})"

    return {(name(before), name(after)) for before, after in pairs}


def test_with_room_for_two_activations_the_third_forward_waits() -> None:
    problem = pipeline([split(1, 1, 1, activation_mb=2, retained_mb=0)], 4, memory_mb=4)
    # W gives nothing back here, so the backward alone counts.
    assert named(problem, forced(problem)) == {("B0(0)", "F0(2)"), ("B0(1)", "F0(3)")}


def test_what_is_kept_until_the_weights_are_done_makes_forwards_wait_for_them() -> None:
    problem = pipeline([split(1, 1, 1, activation_mb=2, retained_mb=2)], 3, memory_mb=4)
    found = named(problem, forced(problem))
    assert ("W0(0)", "F0(2)") in found
    assert ("W0(0)", "B0(2)") in found


def test_a_dead_end_makes_a_forward_wait_for_the_next_stage() -> None:
    """Room for two of the lower stage leaves less than the upper one takes: it must be done with the older first."""
    stages = [split(1, 1, 1, activation_mb=2), split(1, 1, 1, activation_mb=2)]
    problem = pipeline(stages, 3, places=[0, 0], memory_mb=5)
    assert ("B1(0)", "F0(1)") in named(problem, forced(problem))


def test_an_operation_of_no_length_holds_nothing() -> None:
    problem = pipeline([split(1, 0, 0, activation_mb=1, backward_extra_mb=1)], 2, memory_mb=1)
    assert named(problem, forced(problem)) == {("B0(0)", "F0(1)"), ("W0(0)", "F0(1)")}


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_the_solver_finds_the_same(seed: int) -> None:
    for problem in compile_all(random_spec(seed)):
        plain = settled(problem, {})
        theirs = memory_order(plain, stage_memories(plain))
        assert forced(plain) == set(zip(theirs.before.tolist(), theirs.after.tolist(), strict=True))


@pytest.mark.parametrize("case_id", ["partial_release-11"])
def test_golden_waits_are_the_solvers(case_id: str) -> None:
    problem = problem_of(case_id)
    theirs = memory_order(problem, stage_memories(problem))
    assert forced(problem) == set(zip(theirs.before.tolist(), theirs.after.tolist(), strict=True))
