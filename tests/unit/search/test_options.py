from __future__ import annotations

import math
from typing import Any

import pytest
from tests.building import spec_data

from crosspipe.answer.solve import solve
from crosspipe.errors import OptionError
from crosspipe.search.options import MOST_WORKERS, SolveOptions, usable_cores

TINY = spec_data(2, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("time_limit_s", -0.001),
        ("time_limit_s", math.nan),
        ("time_limit_s", math.inf),
        ("time_limit_s", -math.inf),
        ("time_limit_s", 7 * 24 * 3600 + 1),
        ("time_limit_s", "10"),
        ("time_limit_s", None),
        ("time_limit_s", True),
        ("relative_gap", -0.1),
        ("relative_gap", 1.01),
        ("relative_gap", math.nan),
        ("relative_gap", [0.1]),
        ("seed", -1),
        ("seed", 2**31),
        ("seed", 1.5),
        ("seed", False),
        ("workers", 0),
        ("workers", -2),
        ("workers", MOST_WORKERS + 1),
        ("workers", 2.0),
        ("deterministic", 1),
        ("objective", "latency"),
        ("objective", ""),
        ("objective", None),
        ("objective", ["makespan"]),
        ("detail", "everything"),
        ("detail", None),
    ],
)
def test_an_option_out_of_range_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(OptionError) as raised:
        solve(TINY, **{"time_limit_s": 0, name: value})
    (fault,) = raised.value.faults
    assert fault.pointer == f"/{name}"
    assert fault.value is not None
    assert raised.value.code == "invalid_option"
    assert name in str(raised.value)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(OptionError) as raised:
        SolveOptions(time_limit_s=-1, relative_gap=2, seed=-1, workers=0)
    assert [fault.pointer for fault in raised.value.faults] == ["/time_limit_s", "/relative_gap", "/seed", "/workers"]
    assert [fault.nearest for fault in raised.value.faults] == ["0.0", "1.0", "0", "1"]


def test_a_misspelt_name_gets_the_nearest_one() -> None:
    with pytest.raises(OptionError) as raised:
        solve(TINY, time_limit_s=0, objective="makespam")
    assert raised.value.faults[0].nearest == "makespan"


def test_options_are_judged_before_the_spec() -> None:
    with pytest.raises(OptionError):
        solve({"model": "nonsense"}, time_limit_s=-1)


def test_workers_unset_are_all_cores_and_told() -> None:
    assert solve(TINY, time_limit_s=0).provenance.workers == usable_cores() >= 1
    assert solve(TINY, time_limit_s=0, workers=3).provenance.workers == 3


def test_limits_of_every_range_are_legal() -> None:
    SolveOptions(time_limit_s=0, relative_gap=0, seed=0, workers=1)
    SolveOptions(time_limit_s=7 * 24 * 3600, relative_gap=1, seed=2**31 - 1, workers=MOST_WORKERS)
