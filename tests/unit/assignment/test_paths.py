"""Assignments, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.assignment.opened import opened

from crosspipe.assignment.paths import Paths
from crosspipe.assignment.positions import positions_of
from crosspipe.assignment.tables import Tables

if TYPE_CHECKING:
    from crosspipe.costs.assignment import Assignment

LONG_NS = 10**11


def _all(most_ns: int = LONG_NS, **placement: object) -> list[tuple[Assignment, int]]:
    space = opened(**placement).space  # type: ignore[arg-type]  # fields of the placement
    positions = positions_of(space)
    assert positions is not None
    tables = Tables(space, positions, most_ns)
    found = []
    if tables.tighten(most_ns) is not None:
        paths = Paths(tables)
        while (one := paths.next(lambda: False)) is not None:
            found.append(one)
    return found


def test_every_cut_and_order_comes_once_the_least_bound_first() -> None:
    found = _all()
    cuts = {(assignment.counts, assignment.devices) for assignment, _ in found}
    assert cuts == {(counts, order) for counts in ((1, 3), (2, 2), (3, 1)) for order in ((0, 1), (1, 0))}
    assert len(found) == 6
    assert [least for _, least in found] == sorted(least for _, least in found)
    assert found[0][0].counts == (2, 2)


def test_what_is_too_slow_does_not_come() -> None:
    found = _all()
    least = found[0][1]
    assert {assignment for assignment, bound in found if bound <= least} == {one for one, _ in _all(least)}
    assert _all(least - 1) == []


def test_out_of_time_nothing_comes_and_the_bound_stays() -> None:
    space = opened().space
    positions = positions_of(space)
    assert positions is not None
    tables = Tables(space, positions, LONG_NS)
    tables.tighten(LONG_NS)
    paths = Paths(tables)
    assert paths.next(lambda: True) is None
    assert paths.least_ns == 0
