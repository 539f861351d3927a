"""Ways to have used the devices."""

from __future__ import annotations

from tests.unit.assignment.opened import opened

from crosspipe.assignment.positions import Position, positions_of


def test_like_devices_are_one_class() -> None:
    positions = positions_of(opened(sites={"a": {"devices": 2}, "b": {"devices": 1}}).space)
    assert positions is not None
    assert positions.layers[0] == (Position((1, 0), 0), Position((0, 1), 1))
    assert [len(layer) for layer in positions.layers] == [2, 3, 2]


def test_a_given_order_has_one_way() -> None:
    positions = positions_of(opened(device_order="given").space)
    assert positions is not None
    assert positions.layers == ((Position((1, 0), 0),), (Position((1, 1), 1),))


def test_a_given_order_that_may_leave_devices_out_only_goes_on() -> None:
    positions = positions_of(opened(device_order="given", leave_unused=True).space)
    assert positions is not None
    assert positions.layers == ((Position((1, 0), 0), Position((0, 1), 1)), (Position((1, 1), 1),))
    assert positions.after[0] == ((0,), ())
