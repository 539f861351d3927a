"""The joint model proves the published optima, and agrees with the search over all assignments."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.golden.cases import Case, all_cases
from tests.golden.mapping import case_to_spec, value_ns

from crosspipe import solve
from crosspipe.costs.expand import prepare
from crosspipe.model.joint import solve_jointly
from crosspipe.model.joint_scope import refusal
from crosspipe.problem.space import Space
from crosspipe.spec.load import parse_spec

CASES = [case for case in all_cases() if case["kind"] == "stage_assignment" and case["objective"] == "makespan"]
QUICK = ("makespan-05", "free_order-02", "infeasible-02", "infeasible-04")
LONG_NS = 10**9


def _space(spec: dict[str, Any], *, given_order: bool) -> Space:
    return Space(prepare(parse_spec(spec)), given_order=given_order, ways=("none",))


def _marked(case: Case) -> Any:
    marks = () if case["id"].endswith(QUICK) else (pytest.mark.slow,)
    return pytest.param(case, id=case["id"], marks=marks)


@pytest.mark.parametrize("case", [_marked(case) for case in CASES])
def test_published_optima_are_proved_in_one_model(case: Case) -> None:
    found = solve_jointly(_space(case_to_spec(case), given_order=case["device_order"] == "given"), LONG_NS, 100, 2)
    assert found.status == case["expect"]["status"]
    if found.status == "optimal":
        assert found.value_ns == found.bound_ns == value_ns(case, case["expect"]["value"])


def _random(seed: int) -> dict[str, Any]:
    draw = random.Random(seed)  # noqa: S311  # nothing secret
    devices = draw.randint(2, 3)
    layers = [
        {
            "forward_ms": draw.randint(1, 3),
            "backward_input_ms": draw.randint(1, 3),
            "backward_weight_ms": draw.randint(1, 2),
            "activation_mb": draw.randint(2, 4),
            "retained_mb": draw.randint(0, 2),
            "static_mb": draw.randint(0, 3),
        }
        for _ in range(draw.randint(devices, 5))
    ]
    names = "abc"[:devices]
    rooms = [draw.choice([None, *(room / 1000 for room in range(10, 24))]) for _ in names]
    return {
        "model": {"layers": layers},
        "training": {"microbatches": draw.choice([2, 3]), "split_backward": draw.choice([True, True, False])},
        "sites": {
            name: {"devices": 1, "memory_gb": room, "time_factor": draw.choice([1, 1, 2])}
            for name, room in zip(names, rooms, strict=True)
        },
        "links": [
            {"between": [a, b], "one_way_latency_ms": draw.randint(0, 4)}
            for at, a in enumerate(names)
            for b in names[at + 1 :]
        ],
        "placement": {"layers_per_stage": "auto", "device_order": draw.choice(["given", "free"])},
    }


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 150))])
def test_one_model_and_the_search_over_assignments_agree(seed: int) -> None:
    spec = _random(seed)
    answer = solve(spec, time_limit_s=60)
    found = solve_jointly(_space(spec, given_order=spec["placement"]["device_order"] == "given"), LONG_NS, 60, 2)
    assert found.status == answer.status
    assert found.status in ("optimal", "infeasible")
    if answer.makespan_ms is not None:
        assert found.value_ns == round(answer.makespan_ms * 10**6)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"training": {"microbatches": {"multipliers": [1, 2]}}}, "unlike microbatches"),
        ({"limits": {"in_flight": 2}}, "limits"),
        ({"placement": {"layers_per_stage": "auto", "leave_unused": True}}, "every device must hold a stage"),
        ({"training": {"microbatches": 500}}, "at most 2000 operations"),
    ],
)
def test_what_the_model_does_not_know_is_refused(change: dict[str, Any], reason: str) -> None:
    space = _space(_random(1) | change, given_order=True)
    refused = refusal(space)
    assert refused is not None
    assert reason in refused
    with pytest.raises(ValueError, match=reason):
        solve_jointly(space, LONG_NS, 1)
