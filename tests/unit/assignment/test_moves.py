"""Neighbours of an assignment."""

from __future__ import annotations

from tests.unit.assignment.opened import opened

from crosspipe.assignment.moves import neighbours
from crosspipe.costs.assignment import Assignment

ONE = Assignment((1, 4), (0, 1), ("none", "none"))


def test_an_item_moves_or_devices_are_exchanged_with_what_they_hold() -> None:
    found = list(neighbours(ONE, opened().space))
    assert found == [
        Assignment((2, 4), (0, 1), ("none", "none")),
        Assignment((3, 4), (1, 0), ("none", "none")),
    ]


def test_a_given_order_keeps_its_devices() -> None:
    assert [one.devices for one in neighbours(ONE, opened(device_order="given").space)] == [(0, 1)]
