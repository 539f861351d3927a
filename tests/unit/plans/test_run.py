"""`plan`: arrangements at the same work, the best never worse than another, break-evens that bracket."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.plans.planning import GPUS, SPEC, STAGE, row, small_plan

from crosspipe import solve
from crosspipe.errors import OptionError, SpecError
from crosspipe.plans.models import Plan
from crosspipe.plans.run import plan
from crosspipe.spec.load import parse_spec
from crosspipe.sweeps.grid import grid_of


def test_every_arrangement_has_a_schedule_and_the_best_is_the_fastest() -> None:
    found = small_plan()
    assert {one.name for one in found.arrangements} == {
        "pipeline: east, west",
        "data: east, west",
        "site: east",
        "site: west",
    }
    values = [one.value_ms for one in found.arrangements if one.value_ms is not None]
    assert len(values) == 4
    assert values == sorted(values)
    assert found.best == found.arrangements[0].name
    assert found.complete


def test_rows_agree_with_a_solve_of_their_own_spec() -> None:
    for one in small_plan().arrangements:
        assert one.spec is not None
        answer = solve(one.spec, time_limit_s=0, workers=1)
        assert answer.objective.value_ms is not None
        assert one.value_ms is not None
        assert one.value_ms <= answer.objective.value_ms
        assert one.answer is not None
        assert one.answer.objective.value_ms == one.value_ms
        assert all(device.operations is None for device in one.answer.devices)
        assert one.lower_bound_ms is None or one.lower_bound_ms <= one.value_ms


def test_tokens_and_price_follow_from_the_step() -> None:
    found = small_plan()
    for one in found.arrangements:
        assert one.value_ms is not None
        assert one.tokens_per_second == pytest.approx(6 * 512 / one.value_ms * 1000)
        devices = 2 if one.kind == "site" else 4
        assert one.devices == devices
        assert one.price_per_step == pytest.approx(3 * devices * one.value_ms / 3_600_000)


def test_more_than_one_site_is_worth_it_or_not() -> None:
    found = small_plan()
    several = min(one.value_ms for one in found.arrangements if one.kind != "site" and one.value_ms is not None)
    single = min(one.value_ms for one in found.arrangements if one.kind == "site" and one.value_ms is not None)
    assert found.worth.gain == pytest.approx(1 - several / single)
    assert found.worth.verdict == ("yes" if several < single else "no")


def test_break_evens_bracket_the_flip_when_solved_again() -> None:
    found = small_plan()
    flips = [one for one in found.break_evens if one.direction is not None]
    assert {one.axis for one in flips} >= {"bandwidth", "latency"}
    best = row(found, str(found.best))
    for flip in flips:
        assert flip.still_best is not None
        assert flip.flips is not None
        assert (flip.flips < flip.still_best) == (flip.direction == "less")
        told = {probe.factor: probe for probe in flip.probes}
        assert (told[flip.still_best].faster, told[flip.flips].faster) == ("best", "other")
        for factor, faster in ((flip.proved_still_best, "best"), (flip.proved_flips, "other")):
            if factor is None:
                continue
            probe = told[factor]
            assert (probe.faster, probe.proved) == (faster, True)
            # The slower one solved anew: were it faster than what the other has reached, the proof would be wrong.
            slower, reached = (row(found, flip.other), probe.best_ms) if faster == "best" else (best, probe.other_ms)
            value = at_factor(slower, flip.axis, factor)
            assert reached is not None
            assert value is None or value >= reached


def at_factor(arrangement: Any, axis: str, factor: float) -> float | None:
    spec = parse_spec(arrangement.spec)
    if axis != "memory" and not spec.links:
        return solve(spec, time_limit_s=0, workers=1).objective.value_ms
    (point,) = (one for one in grid_of(spec, {axis: [Decimal(repr(factor))]}).points.values() if not one.reference)
    return solve(point.spec, time_limit_s=0, workers=1).objective.value_ms


def test_a_model_by_name_keeps_its_batch() -> None:
    found = plan(GPUS, time_limit_s=0, workers=1)
    known = [one for one in found.arrangements if one.value_ms is not None]
    assert len(known) == 5
    for one in known:
        assert one.tokens_per_second == pytest.approx(8 * 4096 / (one.value_ms or 0) * 1000)


def test_what_cannot_be_compared_says_why() -> None:
    found = plan(SPEC | {"training": {"microbatches": 5}}, time_limit_s=0, workers=1)
    spread = row(found, "data: east, west")
    assert (spread.status, spread.value_ms) == ("not_compared", None)
    assert "cannot be shared evenly" in (spread.reason or "")


def test_a_site_without_room_is_infeasible_with_the_reason() -> None:
    stages = [STAGE | {"static_mb": 350}] * 4
    found = plan(SPEC | {"model": {"stages": stages}}, time_limit_s=0, workers=1)
    east = row(found, "site: east")
    assert east.status == "infeasible"
    assert "memory" in (east.reason or "")
    assert found.worth.verdict == "yes"
    assert found.worth.proved
    assert "no single site can run this step" in found.worth.sentence


def test_one_site_alone_has_nothing_to_compare() -> None:
    one = SPEC | {"sites": {"east": SPEC["sites"]["east"]}, "links": []}
    found = plan(one, time_limit_s=0, workers=1)
    assert [row.name for row in found.arrangements] == ["site: east"]
    assert (found.worth.verdict, found.break_evens) == ("one_site", [])


def test_uncounted_gradients_are_never_the_best() -> None:
    stages = [{k: v for k, v in STAGE.items() if k != "weights_mb"}] * 4
    slow = [{"between": ["east", "west"], "bandwidth_gbps": 1, "one_way_latency_ms": 4}]
    found = plan(SPEC | {"model": {"stages": stages}, "links": slow}, time_limit_s=0, workers=1)
    assert found.arrangements[0].name == "data: east, west"
    assert not found.arrangements[0].gradients_counted
    assert found.best != "data: east, west"
    assert any("weights_mb" in note for note in found.notes)


def test_axes_that_cannot_matter_are_skipped() -> None:
    sites = {name: {k: v for k, v in site.items() if k != "memory_gb"} for name, site in SPEC["sites"].items()}
    links = [{"between": ["east", "west"], "bandwidth_gbps": 100}]
    found = plan(SPEC | {"sites": sites, "links": links}, time_limit_s=0, workers=1)
    why = {one.axis: one.skipped for one in found.break_evens}
    assert "no memory" in (why["memory"] or "")
    assert "no latency" in (why["latency"] or "")


def test_the_time_limit_is_that_of_everything() -> None:
    began = time.monotonic()
    found = plan(SPEC, time_limit_s=2, workers=1)
    assert time.monotonic() - began < 3 * 2
    assert found.time_limit_s == 2


def test_a_stop_gives_what_is_known() -> None:
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    found = plan(SPEC, time_limit_s=0, workers=1, should_stop=stop)
    assert not found.complete
    assert any(one.value_ms is not None for one in found.arrangements)


def test_bad_input_is_refused() -> None:
    with pytest.raises(OptionError):
        plan(SPEC, time_limit_s=-1)
    with pytest.raises(SpecError):
        plan("model: [")


def test_json_round_trip() -> None:
    found = small_plan()
    assert Plan.model_validate_json(found.model_dump_json()) == found
