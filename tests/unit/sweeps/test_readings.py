"""Readings: a value of the sweep, never one in between; proved only where no optimum within the gaps says otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.sweeps.sweeping import SPEC, grid, point

from crosspipe.errors import OptionError
from crosspipe.spec.load import parse_spec
from crosspipe.sweeps.readings import readings_of, require_tolerance

if TYPE_CHECKING:
    from crosspipe.sweeps.models import SweepReading

Known = float | tuple[float, float] | None
"""What is known of a point: a proved value, or value and bound, or that there is no schedule."""


def read(
    axes: dict[str, list[Any]], known: dict[tuple[Any, ...], Known], tolerance: float = 0.01
) -> list[SweepReading]:
    """Read a sweep whose points are as told; those not told are missing."""
    the_grid = grid(axes)
    points = {}
    for place in the_grid.points:
        at = the_grid.at(place)
        if (key := tuple(at.values())) in known:
            told = known[key]
            value, bound = told if isinstance(told, tuple) else (told, told)
            points[place] = point(at, value, bound)
    return readings_of(the_grid, points, parse_spec(SPEC), tolerance)


def of(kind: str, readings: list[SweepReading]) -> list[SweepReading]:
    return [reading for reading in readings if reading.kind == kind]


TWO = {"memory_gb": [0.3, 0.4, 0.5], "latency_ms": [0, 4]}
BOUGHT: dict[tuple[Any, ...], Known] = {
    (0.3, 0): 100.0,
    (0.3, 4): 120.0,
    (0.4, 0): 95.0,
    (0.4, 4): 101.0,
    (0.5, 0): 90.0,
    (0.5, 4): 95.0,
}


def test_the_least_memory_within_the_tolerance_buys_a_latency_back() -> None:
    (reading,) = of("memory_buys_latency", read(TWO, BOUGHT))
    assert (reading.axis, reading.value, reading.at, reading.proved) == ("memory_gb", 0.4, {"latency_ms": 4}, True)
    assert (reading.reached_ms, reading.reference_ms, reading.tolerance) == (101.0, 100.0, 0.01)
    assert reading.sentence == "4 ms are bought back by 0.4 GB: 101.0 ms, against 100.0 ms with 0.3 GB at 0 ms."


def test_a_smaller_tolerance_asks_for_more() -> None:
    (reading,) = of("memory_buys_latency", read(TWO, BOUGHT, tolerance=0.0))
    assert reading.value == 0.5


def test_the_base_is_the_specs_own_memory() -> None:
    """At 0.2 GB, less than it has, the latency costs as much; that is not asked."""
    axes = {"memory_gb": [0.2, 0.3, 0.4], "latency_ms": [0, 4]}
    known = BOUGHT | {(0.2, 0): 200.0, (0.2, 4): 150.0}
    (reading,) = of("memory_buys_latency", read(axes, known))
    assert reading.value == 0.4
    assert reading.reference_ms == 100.0


def test_no_memory_is_enough() -> None:
    known = BOUGHT | {(0.4, 4): 110.0, (0.5, 4): 102.0}
    (reading,) = of("memory_buys_latency", read(TWO, known))
    assert reading.value is reading.reached_ms is None
    assert reading.proved
    assert reading.sentence == (
        "No memory up to 0.5 GB buys back 4 ms: 102.0 ms with 0.5 GB, against 100.0 ms with 0.3 GB at 0 ms."
    )


def test_no_more_memory_is_needed() -> None:
    (reading,) = of("memory_buys_latency", read(TWO, BOUGHT | {(0.3, 4): 100.5}))
    assert reading.value == 0.3
    assert reading.sentence.startswith("4 ms need no more than 0.3 GB: ")


@pytest.mark.parametrize(
    ("changed", "proved"),
    [
        ({(0.4, 4): (101.0, 50.0)}, True),  # its optimum is only smaller
        ({(0.3, 4): (120.0, 102.0)}, True),  # no schedule of 0.3 GB comes near
        ({(0.3, 4): (120.0, 100.5)}, False),  # one of 0.3 GB might do
        ({(0.3, 0): (100.0, 99.0)}, False),  # the reference may be smaller, and 101 too long then
        ({(0.3, 0): (100.0, 99.0), (0.4, 4): 99.5}, True),
    ],
)
def test_it_is_proved_where_no_optimum_within_the_gaps_says_otherwise(
    changed: dict[tuple[Any, ...], Known], proved: bool
) -> None:
    (reading,) = of("memory_buys_latency", read(TWO, BOUGHT | changed))
    assert reading.value == 0.4
    assert reading.proved is proved
    assert ("not proved" in reading.sentence) is not proved


def test_points_without_a_schedule_buy_nothing() -> None:
    (reading,) = of("memory_buys_latency", read(TWO, BOUGHT | {(0.3, 4): None}))
    assert (reading.value, reading.proved) == (0.4, True)
    (reading,) = of("memory_buys_latency", read(TWO, BOUGHT | {(0.3, 4): None, (0.4, 4): None, (0.5, 4): None}))
    assert reading.value is None
    assert "no schedule exists with 0.5 GB" in reading.sentence


def test_latency_tolerated_at_each_memory() -> None:
    axes = {"memory_gb": [0.3, 0.4], "latency_ms": [0, 4, 9]}
    known: dict[tuple[Any, ...], Known] = {
        (0.3, 0): 100.0,
        (0.3, 4): 120.0,
        (0.3, 9): 150.0,
        (0.4, 0): 90.0,
        (0.4, 4): 90.5,
        (0.4, 9): (95.0, 90.0),
    }
    small, large = of("latency_tolerated", read(axes, known))
    assert (small.value, small.at, small.proved) == (0, {"memory_gb": 0.3}, True)
    assert small.sentence == (
        "At 0.3 GB: no latency of the sweep above 0 ms is free: 4 ms cost 20.00 % (120.0 ms, against 100.0 ms)."
    )
    assert (large.value, large.proved) == (4, False)
    assert large.sentence == (
        "At 0.4 GB: up to 4 ms cost at most 1 %: 90.5 ms, against 90.0 ms at 0 ms; 9 ms cost 5.56 % (95.0 ms, against "
        "90.0 ms) (as far as values and bounds are known: not proved)."
    )
    known[0.4, 9] = 90.0
    assert of("latency_tolerated", read(axes, known))[1].value == 9


def test_from_which_bandwidth_on_it_is_free() -> None:
    axes = {"bandwidth_gbps": [1, 10, 100]}
    known: dict[tuple[Any, ...], Known] = {(1,): 150.0, (10,): 105.0, (100,): 100.5, (None,): 100.0}
    (reading,) = read(axes, known)
    assert (reading.kind, reading.value, reading.proved) == ("bandwidth_free", 100, True)
    assert reading.sentence == (
        "From 100 Gb/s on transfers cost at most 1 %: 100.5 ms, against 100.0 ms where transfers take no time."
    )
    (reading,) = read(axes, known | {(100,): 100.0})
    assert reading.sentence.startswith("From 100 Gb/s on transfers cost nothing: 100.0 ms, against 100.0 ms")
    (reading,) = read(axes, known | {(100,): 103.0})
    assert (reading.value, reading.reached_ms) == (None, None)
    assert reading.sentence.startswith("No bandwidth up to 100 Gb/s is free: 103.0 ms, against 100.0 ms")


@pytest.mark.parametrize(("tolerance", "nearest"), [(5, "1"), (-0.5, "0"), (float("nan"), "0.01"), (True, "0.01")])
def test_a_tolerance_is_a_share(tolerance: float, nearest: str) -> None:
    with pytest.raises(OptionError) as refused:
        require_tolerance(tolerance)
    assert refused.value.faults[0].nearest == nearest


def test_other_axes_have_readings_of_their_own() -> None:
    axes = TWO | {"microbatches": [2, 4]}
    known = {(*key, count): value for key, value in BOUGHT.items() for count in (2, 4)}
    bought = of("memory_buys_latency", read(axes, known))
    assert [reading.at for reading in bought] == [
        {"latency_ms": 4, "microbatches": 2},
        {"latency_ms": 4, "microbatches": 4},
    ]
    assert bought[0].sentence.startswith("At 2 microbatches: 4 ms are bought back by 0.4 GB")


def test_missing_points_leave_their_readings_out() -> None:
    known = {key: value for key, value in BOUGHT.items() if key != (0.5, 4)}
    assert [reading.kind for reading in read(TWO, known)] == ["latency_tolerated", "latency_tolerated"]
    assert read({"bandwidth_gbps": [1, 10]}, {(1,): 5.0, (10,): 4.0}) == []
    assert read({"microbatches": [2]}, {(2,): 5.0}) == []
