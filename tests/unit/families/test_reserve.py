"""Memory that could run a device into a dead end, and does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.families.instances import Message, Work, build, uniform
from tests.unit.families.judged import accepted

from crosspipe.errors import DoesNotFitError
from crosspipe.families.chunk import Chunk
from crosspipe.families.greedy import greedy
from crosspipe.families.reserve import Reserve, changes_of
from crosspipe.families.settings import Keep, Rule, Settings
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def chunks_of(problem: Problem, device: int) -> list[Chunk]:
    return [
        Chunk(stage, *(problem.numbers[kind, 0, stage].tolist() for kind in (Kind.F, Kind.B, Kind.W)))
        for stage in problem.devices[device].stages
    ]


def reserve_of(problem: Problem, device: int = 0) -> Reserve:
    reserve = Reserve.of(problem, device, chunks_of(problem, device), changes_of(problem))
    assert reserve is not None
    return reserve


def test_profile_of_a_lone_run_on_two_chunks() -> None:
    works = [Work(1, 1, 1, activation=5, retained=2), Work(1, 1, 1, activation=3, retained=3, extra=4)]
    reserve = reserve_of(build(works, [0, 0], 1, capacity=12, base=0))
    assert reserve.held[0][0] == [0, 5, 8, 5, 0]
    assert reserve.need[0][0] == [12, 12, 12, 5, 0]
    assert reserve.nested == (0,)


def test_one_chunk_without_extra_needs_no_reserve() -> None:
    reserve = reserve_of(uniform(2, 3, capacity=4))
    assert reserve.nested == ()
    assert reserve.room == (4,)


def test_unlimited_pools_are_not_looked_at() -> None:
    problem = uniform(2, 3)
    assert Reserve.of(problem, 0, chunks_of(problem, 0), changes_of(problem)) is None


def test_what_is_needed_and_what_there_is_are_told() -> None:
    works = [Work(1, 1, 1, activation=5_000_000, extra=1_500_000)]
    problem = build(works, [0], 2, capacity=9_000_000, base=3_000_000)
    with pytest.raises(DoesNotFitError, match=r"needs 9\.5 MB on site/0 \(3 MB of it static\), has 9 MB"):
        greedy(problem, Settings())


@pytest.mark.parametrize("keep", Keep)
@pytest.mark.parametrize("rule", Rule)
@pytest.mark.parametrize("capacity", range(9, 20))
def test_unlike_chunks_never_run_into_a_dead_end(keep: Keep, rule: Rule, capacity: int) -> None:
    """A forward that fits now would leave no room for the large chunk of the oldest microbatch."""
    works = [
        Work(1, 2, 1, activation=1, retained=1),
        Work(2, 1, 1, activation=2, retained=0),
        Work(1, 1, 3, activation=3, retained=2, extra=2),
        Work(1, 3, 1, activation=6, retained=1, extra=1),
    ]
    hop = Message(latency=2, transfer=1, lane="x/out")
    problem = build(works, [0, 1, 1, 0], 6, activations=[hop] * 3, capacity=capacity, traversal="wave")
    accepted(problem, greedy(problem, Settings(rule=rule, keep=keep)))


def test_backward_that_raises_memory_waits_for_room() -> None:
    """Filling up with forwards would leave no room for any backward's extra."""
    works = [Work(1, 1, 1, activation=2, retained=2, extra=3)] * 2
    problem = build(works, [0, 1], 5, capacity=7)
    accepted(problem, greedy(problem, Settings(rule=Rule.FORWARD)))


def test_the_rule_binds_only_what_must_be_kept() -> None:
    """With room for two microbatches the second starts before the first is through."""
    works = [Work(1, 1, 1, activation=2, retained=2)] * 2
    problem = build(works, [0, 0], 4, capacity=8, activations=[Message()], traversal="loop")
    orders = greedy(problem, Settings(rule=Rule.FORWARD))
    accepted(problem, orders)
    kinds = problem.operations.kind[orders.sequences[0]].tolist()
    assert kinds[:3] == [Kind.F] * 3
