"""What no schedule can beat, without a schedule: value, place, and a certificate that holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.building import STAGE, spec_data
from tests.golden.cases import all_cases, case_named, expected
from tests.golden.mapping import case_to_spec, unit_ns

from crosspipe.answer.bound import bound
from crosspipe.answer.verify import verify
from crosspipe.errors import OptionError, SpecError
from crosspipe.lattice.warm import warm_up

CASES = [
    case["id"]
    for case in all_cases()
    if case["kind"] == "schedule" and case["expect"]["status"] == "optimal" and "huge_units" not in case["tags"]
]

TIMES = {"forward_ms": 20, "backward_input_ms": 21, "backward_weight_ms": 15}
WAVE = spec_data(
    [STAGE | TIMES | {"activation_mb": 2, "boundary_mb": 1}] * 8,
    8,
    parallel={"pipeline": 4},
    placement={"traversal": "wave"},
    sites={"a": {"devices": 2, "memory_gb": 0.016}, "b": {"devices": 2, "memory_gb": 0.016}},
    links=[{"between": ["a", "b"], "one_way_latency_ms": 80, "bandwidth_gbps": 0.8}],
)


@pytest.mark.parametrize("case_id", CASES[::12])
def test_the_bound_of_a_golden_case_is_verified_and_not_above_its_optimum(case_id: str) -> None:
    case = case_named(case_id)
    spec = case_to_spec(case)
    result = bound(spec, objective=case["objective"], time_limit_s=0)
    assert result.bound_ms is not None
    assert result.bound_ms <= expected(case) * unit_ns(case) / 10**6
    verdict = verify(spec, json.loads(result.model_dump_json()))
    assert verdict.ok, verdict.reason
    assert verdict.bound_ms == result.bound_ms


def test_with_time_count_states_raise_it() -> None:
    warm_up()
    closed = bound(WAVE, time_limit_s=0)
    more = bound(WAVE, time_limit_s=20)
    assert closed.bound_ms is not None
    assert more.bound_ms is not None
    assert more.bound_ms > closed.bound_ms
    assert more.name == "count states"
    assert verify(WAVE, json.loads(more.model_dump_json())).ok


def test_several_placements_give_the_least_of_theirs() -> None:
    spec = spec_data(4, 4, sites={"a": {"devices": 2}})
    result = bound(spec)
    data: Any = result.certificate.data if result.certificate else None
    assert len(data["parts"]) > 1
    assert result.bound_ms == min(part["bound_ns"] for part in data["parts"]) / 10**6
    assert verify(spec, json.loads(result.model_dump_json())).ok


def test_no_schedule_is_explained() -> None:
    spec = spec_data(2, 4, sites={"a": {"devices": 2, "memory_gb": 0.0001}})
    result = bound(spec)
    assert (result.infeasible, result.bound_ms, result.certificate) == (True, None, None)
    assert result.explanation is not None
    assert "memory" in result.explanation or "GB" in result.explanation
    assert verify(spec, json.loads(result.model_dump_json())).ok


def test_a_bound_of_another_objective_is_refused() -> None:
    document = json.loads(bound(WAVE, time_limit_s=0).model_dump_json())
    assert "objective" in verify(WAVE, document | {"objective": "span"}).reason


def test_bad_input_is_told() -> None:
    with pytest.raises(OptionError):
        bound(WAVE, objective="latency")
    with pytest.raises(SpecError):
        bound({"model": {}})
