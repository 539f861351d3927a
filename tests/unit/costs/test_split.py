from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosspipe.costs.split import LARGEST_ITEM_COUNT, even_split

ONE = Fraction(1)


def sizes(works: list[int], factors: list[Fraction]) -> list[int]:
    return [len(run) for run in even_split(works, factors)]


def test_equal_layers_are_shared_equally() -> None:
    assert sizes([5] * 12, [ONE] * 4) == [3, 3, 3, 3]


def test_a_remainder_goes_to_the_later_stages() -> None:
    """They hold fewer microbatches in flight."""
    assert sizes([1] * 10, [ONE] * 4) == [2, 2, 3, 3]


def test_a_heavy_head_lightens_the_last_stage() -> None:
    assert sizes([10] * 8 + [12], [ONE] * 3) == [3, 3, 3]
    assert sizes([10] * 10 + [12], [ONE] * 3) == [4, 4, 3]


def test_the_smallest_load_breaks_ties_of_the_largest() -> None:
    """The first item forces a largest load of 9; 9 | 5 | 4 has a smallest of 4, 9 | 1 | 8 one of 1."""
    assert sizes([9, 1, 4, 4], [ONE] * 3) == [1, 2, 1]


def test_a_slower_device_gets_less() -> None:
    assert sizes([1] * 9, [ONE, Fraction(2)]) == [6, 3]


def test_items_without_work_still_fill_stages() -> None:
    assert sizes([0, 0, 0], [ONE] * 3) == [1, 1, 1]


def test_one_stage_takes_all() -> None:
    assert even_split([3, 1, 2], [ONE]) == (range(3),)


def test_too_few_items_are_refused() -> None:
    with pytest.raises(ValueError, match="2 items cannot fill 3 stages"):
        even_split([1, 1], [ONE] * 3)


def test_the_largest_chain_is_cut() -> None:
    works = [1 + (i * 7919) % 13 for i in range(LARGEST_ITEM_COUNT)]
    runs = even_split(works, [ONE] * 64)
    assert [i for run in runs for i in run] == list(range(LARGEST_ITEM_COUNT))
    assert max(sum(works[i] for i in run) for run in runs) < sum(works) / 64 + 13


@given(
    works=st.lists(st.integers(0, 12), min_size=1, max_size=9),
    factors=st.lists(
        st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(2), Fraction(7, 5)]), min_size=1, max_size=4
    ),
)
def test_the_cut_is_the_best_of_all(works: list[int], factors: list[Fraction]) -> None:
    """Least largest load, then largest smallest load, then earliest cuts: by enumeration."""
    if len(works) < len(factors):
        return

    def rank(cuts: tuple[int, ...]) -> tuple[Fraction, Fraction, tuple[int, ...]]:
        edges = (0, *cuts, len(works))
        loads = [f * sum(works[a:b]) for a, b, f in zip(edges, edges[1:], factors, strict=False)]
        return max(loads), -min(loads), cuts

    best = min(combinations(range(1, len(works)), len(factors) - 1), key=rank)
    assert tuple(run.start for run in even_split(works, factors))[1:] == best
