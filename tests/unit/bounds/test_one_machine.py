"""Jackson's preemptive bound against its definition: the best set of operations."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from crosspipe.bounds.one_machine import from_head, preemptive
from crosspipe.bounds.openings import openings
from crosspipe.problem.links import Lane, Window

JOBS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 6), st.integers(0, 20)), min_size=1, max_size=6)

LANES = st.lists(
    st.tuples(st.integers(0, 15), st.integers(1, 9), st.sampled_from([0, 0, 1, 2]), st.booleans()), max_size=3
).map(
    lambda rows: Lane(
        "a/out",
        "a",
        None,
        4,
        tuple(
            Window(start % 9, min(start % 9 + length, 9), rate, 9) if repeats else Window(start, start + length, rate)
            for start, length, rate, repeats in rows
        ),
    )
)


@given(JOBS)
def test_it_is_the_largest_over_sets_of_operations(jobs: list[tuple[int, int, int]]) -> None:
    heads, durations, tails = ([job[k] for job in jobs] for k in range(3))
    found = preemptive(heads, durations, tails)
    best = max(
        min(job[0] for job in some) + sum(job[1] for job in some) + min(job[2] for job in some)
        for size in range(1, len(jobs) + 1)
        for some in combinations(jobs, size)
    )
    assert found is not None
    assert found.value_ns == best
    assert found.head_ns + found.work_ns + found.tail_ns == best
    assert found.work_ns == sum(p for r, p, q in jobs if r >= found.head_ns and q >= found.tail_ns)


@given(JOBS, LANES)
def test_with_windows_it_is_the_largest_over_sets_in_what_the_lane_carries(
    jobs: list[tuple[int, int, int]], lane: Lane
) -> None:
    opened = openings(lane)
    heads, durations, tails = ([job[k] for job in jobs] for k in range(3))
    found = preemptive(heads, durations, tails, opened)
    values = []
    for size in range(1, len(jobs) + 1):
        for some in combinations(jobs, size):
            end = from_head(min(job[0] for job in some), sum(job[1] for job in some), opened)
            values.append(None if end is None else end + min(job[2] for job in some))
    finite = [value for value in values if value is not None]
    assert (found is None) == (len(finite) < len(values))
    if found is not None:
        assert found.value_ns == max(finite)
        assert from_head(found.head_ns, found.work_ns, opened) == found.value_ns - found.tail_ns


def test_nothing_to_do_bounds_nothing() -> None:
    assert preemptive([], [], []) is None
