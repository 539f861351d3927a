"""Properties of answers on random specs: the checker accepts them, and they move as they should with their spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.building import STAGE, spec_data
from tests.property.random_specs import (
    random_spec,
    renamed,
    scaled,
    without_bandwidth,
    without_latency,
    without_memory_limit,
)
from tests.solving import assert_sound, solve_here

from crosspipe.answer.solve import solve
from crosspipe.families.registry import FAMILIES, GREEDY

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer

OBJECTIVES = ("makespan", "span")
SEEDS = range(40)
MORE = range(40, 600)

PROVED = {
    "makespan": (3, 6, 12, 15, 22, 28, 36, 42, 47, 49, 56, 69, 71, 82, 91, 108),
    "span": (0, 8, 35, 41, 48, 56, 72, 73, 82, 89),
}
"""Specs whose optimum is proved within a second or two: they are what scaling and relaxing are tried on."""

# The phase of a clock-anchored window is a whole number of nanoseconds: that unit does not scale.
SCALABLE = [
    (objective, seed) for objective, seeds in PROVED.items() for seed in seeds if "clock" not in str(random_spec(seed))
]
CASES = [(objective, seed) for objective, seeds in PROVED.items() for seed in seeds]


def optimum(monkeypatch: pytest.MonkeyPatch, spec: dict[str, Any], objective: str) -> float:
    answer = proved(monkeypatch, spec, objective)
    assert answer.objective.value_ms is not None
    return answer.objective.value_ms


def proved(monkeypatch: pytest.MonkeyPatch, spec: dict[str, Any], objective: str) -> Answer:
    answer = solve_here(monkeypatch, spec, time_limit_s=60, objective=objective)
    assert answer.status == "optimal"
    assert_sound(spec, answer)
    return answer


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_checker_accepts_every_construction(seed: int, objective: str) -> None:
    spec = random_spec(seed)
    answer = solve(spec, time_limit_s=0, objective=objective)
    assert answer.status in ("feasible", "optimal"), "memory allows one microbatch at a time"
    assert_sound(spec, answer)


@pytest.mark.parametrize("seed", SEEDS[::5])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_checker_accepts_what_the_solver_makes_of_it(
    seed: int, objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = random_spec(seed)
    first = solve(spec, time_limit_s=0, objective=objective)
    answer = solve_here(monkeypatch, spec, time_limit_s=1.2, objective=objective)
    assert_sound(spec, answer)
    assert answer.objective.value_ms is not None
    assert first.objective.value_ms is not None
    assert answer.objective.lower_bound_ms is not None
    assert first.objective.lower_bound_ms is not None
    assert answer.objective.value_ms <= first.objective.value_ms
    assert answer.objective.lower_bound_ms >= first.objective.lower_bound_ms


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_checker_accepts_many_more(seed: int, objective: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = random_spec(seed)
    assert_sound(spec, solve_here(monkeypatch, spec, time_limit_s=1.5, objective=objective))


def test_at_least_half_of_the_specs_are_tight_in_memory_and_half_in_a_lane() -> None:
    tight = thin = 0
    seeds = SEEDS[::2]
    for seed in seeds:
        spec = random_spec(seed)
        value = construction(spec)
        tight += construction(without_memory_limit(spec)) < value
        thin += construction(without_bandwidth(spec)) < value
    assert tight >= len(seeds) / 2
    assert thin >= len(seeds) / 2


def test_the_specs_have_every_feature() -> None:
    texts = [str(random_spec(seed)) for seed in SEEDS]
    for word in (
        *("unidirectional", "loop", "wave", "'map'", "memory_gb", "closed_ms", "open_ms", "slow_ms", "clock", "half"),
        *("multipliers", "'fixed'", "'free'", "after", "before", "'data': 2", "merged", "separate", "recompute_option"),
        *("recompute_ms", "frozen", "backward_ms", "backward_extra_mb", "in_flight", "time_factor", "per_replica"),
    ):
        assert any(word in text for text in texts), word


def construction(spec: dict[str, Any]) -> float:
    value = solve(spec, time_limit_s=0).objective.value_ms
    assert value is not None
    return value


@pytest.mark.parametrize("factor", [2, 3, 7])
@pytest.mark.parametrize(("objective", "seed"), SCALABLE[::2])
def test_times_k_times_as_long_make_the_optimum_k_times_as_long(
    objective: str, seed: int, factor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = random_spec(seed)
    longer = optimum(monkeypatch, scaled(spec, factor), objective)
    assert longer == factor * optimum(monkeypatch, spec, objective)


@pytest.mark.parametrize(("objective", "seed"), CASES)
def test_taking_a_limit_away_never_makes_the_optimum_worse(
    objective: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limited optimum is proved; whatever is found without the limit must not be bounded above it."""
    spec = random_spec(seed)
    value = optimum(monkeypatch, spec, objective)
    for freed in (without_memory_limit(spec), without_latency(spec), without_bandwidth(spec)):
        answer = solve_here(monkeypatch, freed, time_limit_s=5, objective=objective)
        assert_sound(freed, answer)
        assert answer.objective.lower_bound_ms is not None
        assert answer.objective.lower_bound_ms <= value
        if answer.status == "optimal":
            assert answer.objective.value_ms is not None
            assert answer.objective.value_ms <= value


@pytest.mark.parametrize(("objective", "seed"), CASES[1::2])
def test_other_names_change_nothing(objective: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = random_spec(seed)
    plain, other = (proved(monkeypatch, some, objective) for some in (spec, renamed(spec)))
    assert other.objective.value_ms == plain.objective.value_ms
    assert [(row.name, row.fits, row.value_ms) for row in other.families[:-1]] == [
        (row.name, row.fits, row.value_ms) for row in plain.families[:-1]
    ]


PLACEMENTS = {
    "unidirectional": (4, {"traversal": "unidirectional"}),
    "loop": (8, {"traversal": "loop"}),
    "wave": (8, {"traversal": "wave"}),
}


@pytest.mark.parametrize("microbatches", range(1, 10))
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("tight", [False, True])
def test_any_number_of_microbatches_on_four_devices_is_scheduled(
    microbatches: int, placement: str, tight: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """m from 1 to 9 with p = 4: every family has a value or a reason, the solver always a schedule, both objectives.

    Tight means that one microbatch fits, or two on the loop and the wave with their two stages a device.
    """
    count, where = PLACEMENTS[placement]
    per_device = count // 4
    sites = {
        name: {"devices": 2, "hop_latency_ms": 0.5} | ({"memory_gb": 0.002 * per_device} if tight else {})
        for name in ("east", "west")
    }
    spec = spec_data(
        [STAGE | {"activation_mb": 2, "retained_mb": 1, "boundary_mb": 1}] * count,
        microbatches,
        sites=sites,
        links=[{"between": ["east", "west"], "bandwidth_gbps": 8, "one_way_latency_ms": 3}],
        placement=where,
    )
    for objective in OBJECTIVES:
        answer = solve(spec, time_limit_s=0, objective=objective)
        assert answer.status in ("feasible", "optimal")
        assert [row.name for row in answer.families] == [*(family.name for family in FAMILIES), GREEDY]
        assert_sound(spec, answer)
        fitting = {row.name for row in answer.families if row.fits}
        assert GREEDY in fitting
        if not tight:
            expected = {"unidirectional": {"1F1B", "1F1B split", "ZB-H1", "ZB-H2"}, "loop": {"interleaved 1F1B"}}
            assert expected.get(placement, set()) | {"GPipe"} <= fitting
    if tight == bool(microbatches % 2):  # the solver, on half of them: the families are what is many here
        assert_sound(spec, answer := solve_here(monkeypatch, spec, time_limit_s=1.2))
        assert answer.status in ("feasible", "optimal")


@pytest.mark.parametrize("seed", range(24))
def test_the_smallest_sufficient_memory_is_smallest_and_sufficient(seed: int) -> None:
    """What a refusal asks for is enough; a byte less on any device it names is refused again."""
    spec = random_spec(seed)
    for site in spec["sites"].values():
        site["memory_gb"] = 0.000001
    spec.pop("limits", None)
    named: set[str] = set()
    for _ in range(10):  # the placement that needs least is found by granting what the refusals ask for
        answer = solve(spec, time_limit_s=0)
        if answer.status != "infeasible":
            break
        assert answer.explanation is not None
        more = grant(spec, answer)
        assert more, "a refusal for memory names its devices"
        named |= more
    assert answer.status in ("feasible", "optimal")
    assert_sound(spec, answer)
    for name in named if len(answer.placements) == 1 else ():
        site = spec["sites"][name]
        less = {**spec["sites"], name: site | {"memory_gb": round(site["memory_gb"] - 1e-9, 9)}}
        assert solve(spec | {"sites": less}, time_limit_s=0).status == "infeasible"


def grant(spec: dict[str, Any], answer: Answer) -> set[str]:
    """Give the devices named by the first placement's reasons what these ask for."""
    assert answer.explanation is not None
    named: set[str] = set()
    for reason in answer.explanation.reasons:
        assert reason.kind == "memory"
        assert reason.needs is not None
        assert reason.has is not None
        assert reason.needs > reason.has
        assert reason.smallest_sufficient is not None
        for name, site in spec["sites"].items():
            if f"{name}/0" in reason.where:
                site["memory_gb"] = max(site["memory_gb"], reason.smallest_sufficient / 10**9)
                named.add(name)
    return named
