"""What a spec leaves open, piece by piece."""

from __future__ import annotations

from tests.unit.assignment.opened import opened

from crosspipe.costs.assignment import Assignment


def _never() -> bool:
    return False


def test_rules_and_starts_keep_to_a_cut_that_is_given() -> None:
    opening = opened(layers=5, layers_per_stage=[1, 4], device_order="free")
    start = Assignment((2, 5), (0, 1), ("none", "none"))
    other = Assignment((1, 5), (1, 0), ("none", "none"))
    opening.first([start, other])
    assert opening.assignments == [other, Assignment((1, 5), (0, 1), ("none", "none"))]
    assert [cut.reason for cut in opening.rules[1:2]] == ["the spec leaves no such cut open"]


def test_all_are_given_out_once_and_then_nothing_is_left() -> None:
    opening = opened()
    opening.first(())
    opening.tighten(None, _never)
    assert opening.bound() is not None
    while opening.more(None, _never) is not None:
        pass
    assert opening.bound() is None
    assert len(opening.assignments) == len(set(opening.assignments)) == 6


def test_out_of_time_the_bound_stays() -> None:
    opening = opened()
    opening.first(())
    opening.tighten(None, _never)
    before = opening.bound()
    assert opening.more(None, lambda: True) is None
    assert opening.bound() == before


def test_below_the_least_bound_there_is_nothing() -> None:
    opening = opened()
    opening.tighten(1_000_000, _never)
    assert opening.bound() is None
