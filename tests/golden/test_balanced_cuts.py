"""The balanced cut of measured layers reaches the proved bottleneck of every assignment case that asks for one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.golden.cases import Case, all_cases

from crosspipe.costs.split import even_split

BALANCED = [
    case
    for case in all_cases()
    if case["kind"] == "stage_assignment" and case.get("objective", "").startswith("bottleneck")
]
GIVEN_ORDER = [case for case in BALANCED if case["device_order"] == "given"]


def _loads(case: Case) -> list[Fraction]:
    """Load of each stage of the cut that the product makes: time factor x (F + B + W) of its layers."""
    works = [layer["forward"] + layer["backward_input"] + layer["backward_weight"] for layer in case["layers"]]
    factors = [Fraction(device["time_factor"]) for device in case["devices"]]
    runs = even_split(works, factors)
    assert [item for run in runs for item in run] == list(range(len(works)))
    return [factor * sum(works[item] for item in run) for factor, run in zip(factors, runs, strict=True)]


def test_the_set_is_complete() -> None:
    assert len(BALANCED) == 10
    assert len(GIVEN_ORDER) == 8


@pytest.mark.parametrize("case", GIVEN_ORDER, ids=lambda case: case["id"])
def test_the_cut_reaches_the_proved_bottleneck(case: Case) -> None:
    loads = _loads(case)
    assert max(loads) == case["expect"]["value"]
    assert min(loads) > 0
    if "second" in case["expect"]:
        assert min(loads) == case["expect"]["second"]
