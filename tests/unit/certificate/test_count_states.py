"""Count states and case split: worked by hand, against proved optima, and with broken trees."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from tests.golden.cases import all_cases, expected
from tests.golden.compiled import problem_of
from tests.golden.mapping import unit_ns
from tests.unit.bounds.specs import pipeline, split
from tests.unit.certificate.forging import certificate, forgeries

from crosspipe.certificate.verify import verify
from crosspipe.certificate.write import part_of

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

MS = 10**6


def count_states(problem: Problem, bound_ns: int) -> dict[str, Any]:
    part = part_of("count states", "", bound_ns, {})
    assert part is not None
    return certificate(problem, part)


def case_split(problem: Problem, bound_ns: int, tree: list[Any]) -> dict[str, Any]:
    part = part_of("case split", "", bound_ns, {"tree": tree})
    assert part is not None
    return certificate(problem, part)


def test_one_device_takes_the_sum_of_its_work() -> None:
    problem = pipeline([split(2, 3, 1)], 3)
    assert verify(problem, count_states(problem, 18 * MS)).ok
    assert not verify(problem, count_states(problem, 18 * MS + 1)).ok


def test_memory_for_one_microbatch_makes_a_pipeline_run_them_one_by_one() -> None:
    problem = pipeline([split(2, 3, 1, activation_mb=1)] * 2, 2, memory_mb=1)
    # Device 0 is done with microbatch 0 at 2 + 2 + 3 + 3 + 1; then the same again.
    assert verify(problem, count_states(problem, 22 * MS)).ok
    assert not verify(problem, count_states(problem, 22 * MS + 1)).ok


def test_an_operation_of_no_length_needs_no_room() -> None:
    problem = pipeline([split(3, 0, 0, activation_mb=1, backward_extra_mb=1)], 2, memory_mb=1)
    assert verify(problem, count_states(problem, 6 * MS)).ok
    assert not verify(problem, count_states(problem, 6 * MS + 1)).ok


MAKESPANS = [
    case["id"]
    for case in all_cases()
    if case["kind"] == "schedule" and case["expect"]["status"] == "optimal" and case["objective"] == "makespan"
]


@pytest.mark.parametrize("case_id", MAKESPANS[::8])
def test_no_target_that_a_schedule_meets_is_refuted(case_id: str) -> None:
    case = next(case for case in all_cases() if case["id"] == case_id)
    problem = problem_of(case_id)
    assert not verify(problem, count_states(problem, expected(case) * unit_ns(case) + 1)).ok


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (pipeline([split(1, 1, 1)] * 2, {"multipliers": [1, 2], "order": "fixed"}), "alike"),
        (pipeline([split(1, 1, 1)] * 2, 2, parallel={"pipeline": 2, "data": 2, "replica_messages": "separate"}), "one"),
    ],
)
def test_conditions_are_looked_up(problem: Problem, reason: str) -> None:
    verdict = verify(problem, count_states(problem, MS))
    assert not verdict.ok
    assert reason in verdict.reason


SPLIT = "partial_release-11"
SPLIT_BOUND = 23 * MS
SPLIT_TREE = [["F 2", 1, "W 2", 0], 0, ["W 2", 1, "F 2", 2], ["F 1", 1, "W 1", 0], 0, 0, 0]
"""Found by the solver; counting states alone does not refute this target."""


def test_a_tree_refutes_what_counting_alone_does_not() -> None:
    problem = problem_of(SPLIT)
    assert not verify(problem, count_states(problem, SPLIT_BOUND)).ok
    verdict = verify(problem, case_split(problem, SPLIT_BOUND, SPLIT_TREE))
    assert (verdict.ok, verdict.bound_ns) == (True, SPLIT_BOUND)


BROKEN: list[tuple[str, list[Any], str]] = [
    ("empty", [], "not complete"),
    ("only a leaf", [0], "not refuted"),
    ("a branch cut off", SPLIT_TREE[:-1], "not complete"),
    ("a leaf too many", [*SPLIT_TREE, 0], "goes on"),
    ("a decision taken for a leaf", [["F 2", 1, "W 2", 0], 0, 0], "not refuted"),
    ("the other operation", [["F 2", 0, "W 2", 0], *SPLIT_TREE[1:]], ""),
    ("no such class", [["F 9", 1, "W 2", 0], *SPLIT_TREE[1:]], "none of"),
    ("no such operation", [["F 2", 99, "W 2", 0], *SPLIT_TREE[1:]], "no operation 99"),
    ("classes of two devices", [["F 1", 1, "W 2", 0], *SPLIT_TREE[1:]], "do not meet"),
    ("one class twice", [["F 2", 1, "F 2", 0], *SPLIT_TREE[1:]], "do not meet"),
    ("a node of three", [["F 2", 1, "W 2"], *SPLIT_TREE[1:]], "must be"),
    ("a node of texts", [["F 2", "1", "W 2", "0"], *SPLIT_TREE[1:]], "whole number"),
    ("a negative index", [["F 2", -1, "W 2", 0], *SPLIT_TREE[1:]], "whole number"),
    ("null", [None, *SPLIT_TREE[1:]], "must be"),
]


@pytest.mark.parametrize(("what", "tree", "reason"), BROKEN, ids=[what for what, _, _ in BROKEN])
def test_broken_trees_are_refused(what: str, tree: list[Any], reason: str) -> None:
    problem = problem_of(SPLIT)
    verdict = verify(problem, case_split(problem, SPLIT_BOUND, tree))
    assert not verdict.ok, what
    assert reason in verdict.reason


def test_a_tree_does_not_prove_one_nanosecond_more() -> None:
    problem = problem_of(SPLIT)
    assert not verify(problem, case_split(problem, SPLIT_BOUND + 1, SPLIT_TREE)).ok


def test_every_altered_field_of_a_count_is_refused() -> None:
    problem = pipeline([split(2, 3, 1, activation_mb=1)] * 2, 2, memory_mb=1)
    for what, forged in forgeries(count_states(problem, 22 * MS), MS):
        assert not verify(problem, forged).ok, what


def test_a_tree_of_any_depth_ends() -> None:
    """A branch refuted early is passed over, entry by entry; a chain of decisions that never ends one is refused."""
    problem = problem_of(SPLIT)
    deep = [["F 2", 1, "W 2", 0]] * 50_000
    assert not verify(problem, case_split(problem, SPLIT_BOUND, deep)).ok
    longer = [*copy.deepcopy(SPLIT_TREE[:1]), ["F 2", 1, "W 2", 0], 0, 0, *SPLIT_TREE[2:]]
    assert verify(problem, case_split(problem, SPLIT_BOUND, longer)).ok


def test_more_work_than_allowed_is_refused() -> None:
    problem = problem_of(SPLIT)
    verdict = verify(problem, case_split(problem, SPLIT_BOUND, SPLIT_TREE), most_work=10**5)
    assert not verdict.ok
    assert "more work" in verdict.reason
