"""The spec of an arrangement: its sites, its degrees, and the same work per step."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.plans.planning import GPUS, SPEC, STAGE, base, made, refusal

from crosspipe.costs.expand import expand
from crosspipe.plans.candidates import Candidate, candidates
from crosspipe.plans.rewrite import variants


def test_the_arrangement_as_given_is_the_spec_with_gradients() -> None:
    (variant,) = made(SPEC, "pipeline", "east", "west")
    assert (variant.pipeline, variant.data, variant.changes) == (4, 1, ())
    assert variant.spec.gradients is not None


def test_whole_pipelines_in_each_site_share_the_microbatches() -> None:
    (variant,) = made(SPEC, "data", "east", "west")
    assert (variant.pipeline, variant.data) == (2, 2)
    assert variant.spec.training.microbatches == 3
    assert any("the same 6 per step" in change for change in variant.changes)
    assert any("zero1" in change for change in variant.changes)


def test_one_site_holds_several_stages_on_a_device() -> None:
    (variant,) = made(SPEC, "site", "west")
    assert list(variant.spec.sites) == ["west"]
    assert variant.spec.links == []
    assert (variant.pipeline, variant.data, variant.spec.training.microbatches) == (2, 1, 6)


def test_what_places_stages_one_by_one_is_left_out_and_said() -> None:
    placed = SPEC | {"placement": {"map": ["west/0", "west/1", "east/0", "east/1"]}}
    (variant,) = made(placed, "site", "east")
    assert variant.spec.placement.map is None
    assert any("placement.map was left out" in change for change in variant.changes)
    (as_given,) = made(placed, "pipeline", "east", "west")
    assert as_given.spec.placement.map == ["west/0", "west/1", "east/0", "east/1"]
    listed = [STAGE | {"device": f"{site}/{place}"} for site in ("east", "west") for place in (0, 1)]
    (variant,) = made(SPEC | {"model": {"stages": listed}}, "site", "east")
    assert any("own devices were left out" in change for change in variant.changes)


def test_a_cut_for_other_devices_is_left_out() -> None:
    cut = GPUS | {"placement": {"layers_per_stage": [9, 8, 8, 8]}}
    (as_given,) = made(cut, "pipeline", "east", "west")
    assert as_given.spec.placement.layers_per_stage == [9, 8, 8, 8]
    for variant in made(cut, "site", "east"):
        assert variant.spec.placement.layers_per_stage == "auto"
        assert any("layers_per_stage was left out" in change for change in variant.changes)


def test_links_of_sites_that_are_left_out_go() -> None:
    three = SPEC | {
        "model": {"stages": [STAGE] * 12},
        "sites": SPEC["sites"] | {"north": {"devices": 2}},
        "links": [{"between": list(ends), "rtt_ms": 2} for ends in (("east", "west"), ("west", "north"))],
    }
    (variant,) = made(three, "pipeline", "west", "north")
    assert [link.between for link in variant.spec.links] == [("west", "north")]


def test_degrees_of_fewer_gpus_keep_pipeline_or_replicas() -> None:
    found = made(GPUS, "site", "east")
    assert (4, 1) in [(variant.pipeline, variant.data) for variant in found]
    assert (2, 2) in [(variant.pipeline, variant.data) for variant in found]
    for variant in found:
        assert variant.tensor == 4
        assert variant.tensor * variant.pipeline * variant.data == 16
        training = expand(variant.spec).spec.training
        assert isinstance(training.microbatches, int)
        assert training.microbatches * variant.data == 8


def test_counted_microbatches_are_kept_over_all_replicas() -> None:
    counted = GPUS | {"training": {"microbatches": 8, "microbatch": 1, "sequence_length": 4096}}
    for candidate in candidates(["east", "west"], base(counted).data):
        for variant in variants(base(counted), candidate)[0]:
            count = expand(variant.spec).spec.training.microbatches
            assert isinstance(count, int)
            assert count * variant.data == 8 * base(counted).data


@pytest.mark.parametrize(
    ("training", "told"),
    [
        ({"microbatches": 5}, "5 microbatches per step cannot be shared evenly among 2 replicas"),
        ({"microbatches": {"multipliers": [1, 2]}}, "unlike microbatches are those of 1 replicas"),
    ],
)
def test_other_work_per_step_is_not_compared(training: dict[str, Any], told: str) -> None:
    assert told in refusal(SPEC | {"training": training}, "data", "east", "west")


def test_measured_stages_that_fill_no_site_evenly_are_not_compared() -> None:
    uneven = SPEC | {
        "model": {"stages": [STAGE] * 5},
        "sites": {"east": {"devices": 2}, "west": {"devices": 3}},
    }
    assert "multiple of the number of devices" in refusal(uneven, "site", "east")
    assert "must have as much as east" in refusal(uneven, "data", "east", "west")


def test_gradients_without_known_sizes_are_not_counted() -> None:
    unknown = SPEC | {"model": {"stages": [{k: v for k, v in STAGE.items() if k != "weights_mb"}] * 4}}
    (spread,) = made(unknown, "data", "east", "west")
    assert not spread.counted
    assert any("not counted" in change for change in spread.changes)
    assert all(one.counted for kind in ("pipeline",) for one in made(unknown, kind, "east", "west"))
    assert Candidate("site", ("east",)).name == "site: east"


def test_gradients_that_are_given_are_kept() -> None:
    (variant,) = made(SPEC | {"gradients": {"sharding": "none", "pieces": 2}}, "data", "east", "west")
    assert variant.spec.gradients is not None
    assert (variant.spec.gradients.sharding, variant.spec.gradients.pieces) == ("none", 2)
    assert not any("zero1" in change for change in variant.changes)
