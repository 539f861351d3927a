"""Gradients through the whole expansion: defaults, sizes, degrees where pipelines are spread over the sites, traps."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.costs.specs import STAGES, layered, measured, named, only_fault, stages_of

from crosspipe.costs import expand
from crosspipe.costs.text import expanded_text
from crosspipe.spec.load import parse_spec
from crosspipe.spec.notices import spec_notices

if TYPE_CHECKING:
    from crosspipe.spec.gradients import Gradients
    from crosspipe.spec.model import Spec

SIZED = STAGES | {"weights_mb": 900}
HOP = {"hop_bandwidth_gbps": 400, "hop_latency_ms": 0.5}


def given(**fields: Any) -> Gradients:
    expanded = expand(measured(model={"stages": SIZED}, parallel={"data": 4}, **fields)).spec.gradients
    assert expanded is not None
    return expanded


def codes(**fields: Any) -> list[str]:
    return [notice.code for notice in expand(measured(model={"stages": SIZED}, **fields)).notices]


class TestDefaults:
    def test_without_gradients_nothing_is_filled_in(self) -> None:
        stages = stages_of(expand(measured(parallel={"data": 4})))
        assert {(stage.weights_mb, stage.reduced_mb) for stage in stages} == {(None, None)}

    def test_copies_without_gradients_are_an_assumption_that_says_what_to_write(self) -> None:
        (found,) = [a for a in expand(measured(parallel={"data": 4})).assumptions if "sum their gradients" in a.value]
        assert (found.pointer, "gradients" in found.override) == ("/extra_operations", True)
        assert not any("gradients in no" in a.value for a in expand(measured()).assumptions)

    def test_the_network_inside_a_site_is_that_of_its_hops(self) -> None:
        found = given(sites={"east": {"devices": 8} | HOP}, gradients={})
        assert (found.sharding, found.pieces) == ("zero1", 1)
        assert (found.bandwidth_gbps, found.latency_ms) == (Decimal(400), Decimal("0.5"))

    def test_what_sites_do_not_agree_on_stays_that_of_each(self) -> None:
        sites = {"east": {"devices": 4} | HOP, "west": {"devices": 4} | HOP | {"hop_bandwidth_gbps": 100}}
        links = [{"between": ["east", "west"], "bandwidth_gbps": 100}]
        found = given(sites=sites, links=links, gradients={})
        assert (found.bandwidth_gbps, found.latency_ms) == (None, Decimal("0.5"))

    def test_what_is_summed_is_what_is_gathered(self) -> None:
        stages = stages_of(expand(measured(model={"stages": SIZED}, parallel={"data": 4}, gradients={})))
        assert {(stage.weights_mb, stage.reduced_mb) for stage in stages} == {(Decimal(900), Decimal(900))}

    def test_layers_add_up(self) -> None:
        layer = {"forward_ms": 1, "backward_ms": 2, "weights_mb": 10}
        spec = layered([layer | {"repeat": 3}, layer | {"reduced_mb": 25}], parallel={"data": 2}, gradients={})
        assert [(stage.weights_mb, stage.reduced_mb) for stage in stages_of(expand(spec))] == [
            (Decimal(20), Decimal(20)),
            (Decimal(20), Decimal(35)),
        ]

    @pytest.mark.parametrize("across", ["pipeline", "both"])
    def test_an_expansion_expands_to_itself(self, across: str) -> None:
        spec = named(gradients={"tied": [[0, 7]]}, parallel={"pipeline": 8, "data": 16, "across_sites": across})
        once = expand(spec)
        assert expand(once.spec).spec == once.spec
        assert parse_spec(expanded_text(once)) == once.spec


class TestEstimates:
    def test_two_bytes_a_parameter_are_gathered_and_summed(self) -> None:
        stages = stages_of(expand(named(gradients={})))
        total = sum(stage.weights_mb or 0 for stage in stages)
        assert abs(total - Decimal("141107")) < 5, "70.55 B parameters"
        assert {stage.weights_mb == stage.reduced_mb for stage in stages} == {True}

    @pytest.mark.parametrize(
        ("sharding", "per_parameter"), [("none", 18), ("zero1", 6 + 12 / 16), ("full", 4 + 14 / 16)]
    )
    def test_static_memory_follows_what_is_shared_out(self, sharding: str, per_parameter: float) -> None:
        stages = stages_of(expand(named(parallel={"pipeline": 8, "data": 16}, gradients={"sharding": sharding})))
        parameters = float(stages[0].weights_mb or 0) / 2
        assert float(stages[0].static_mb) == pytest.approx(parameters * per_parameter / 8, abs=0.2)

    def test_tied_weights_are_the_embedding(self) -> None:
        found = expand(named(gradients={"tied": [[0, 7]]}, parallel={"pipeline": 8})).spec.gradients
        assert found is not None
        assert found.tied_mb == Decimal("2101.3"), "2 bytes x 128256 x 8192"


class TestAcrossSites:
    def test_whole_pipelines_in_each_site(self) -> None:
        """512 GPUs a site, 8 x (16 / 2) of them for each device of its pipelines."""
        found = expand(named(parallel={"data": 16, "across_sites": "data"})).spec
        assert (found.parallel.tensor, found.parallel.pipeline, found.parallel.data) == (8, 8, 16)
        assert [site.devices for site in found.sites.values()] == [8, 8]
        assert len(stages_of(expand(found))) == 8
        assert expand(found).spec == found

    def test_data_is_a_multiple_of_the_sites(self) -> None:
        found = expand(named(parallel={"pipeline": 8, "across_sites": "data"})).spec.parallel
        assert (found.tensor, found.pipeline, found.data) == (8, 8, 16)

    def test_the_batch_is_that_of_all_copies(self) -> None:
        found = expand(named(parallel={"data": 16, "across_sites": "data"})).spec
        assert found.training.microbatches == 512 // 16

    def test_a_contradiction_names_the_copies_of_all_sites(self) -> None:
        fault = only_fault(named(parallel={"tensor": 8, "data": 16, "pipeline": 5, "across_sites": "data"}))
        assert (fault.pointer, fault.nearest) == ("/parallel/pipeline", "8")
        assert "in its site" in fault.rule

    def test_layers_are_cut_for_the_slowest_of_each_rank(self) -> None:
        layers = [{"forward_ms": 1, "backward_ms": 2, "repeat": 6}]
        west = {"pools": [{"devices": 1, "time_factor": 2}, {"devices": 1}]}
        links = [{"between": ["east", "west"], "bandwidth_gbps": 100}]
        spec = layered(
            layers,
            sites={"east": {"devices": 2}, "west": west},
            links=links,
            parallel={"data": 2, "across_sites": "data"},
        )
        assert [stage.layers for stage in stages_of(expand(spec))] == ["0-1", "2-5"]


class TestTraps:
    def test_sums_that_occupy_no_wire_are_told(self) -> None:
        assert codes(parallel={"data": 4}, gradients={}) == ["gradients_take_no_time"]
        assert codes(parallel={"data": 4}, gradients={"bandwidth_gbps": 100}) == []

    def test_gradients_of_one_copy_are_told(self) -> None:
        assert codes(gradients={"bandwidth_gbps": 100}) == ["gradients_without_copies"]

    def test_more_stages_than_stay_gathered_are_an_assumption(self) -> None:
        spec = measured(
            model={"stages": SIZED},
            sites={"east": {"devices": 2} | HOP},
            placement={"stages_per_device": 4},
            parallel={"data": 4},
            gradients={"sharding": "full"},
        )
        assert "/gradients/sharding" in [assumption.pointer for assumption in expand(spec).assumptions]

    def test_messages_that_stay_inside_a_site_are_not_slow_on_its_links(self) -> None:
        links = [{"between": ["east", "west"], "bandwidth_gbps": 0.01}]
        sites = {name: {"devices": 8} | HOP for name in ("east", "west")}
        parallel = {"data": 4, "across_sites": "data"}
        spec = measured(model={"stages": SIZED}, sites=sites, links=links, parallel=parallel, gradients={})
        assert [*spec_codes(spec), *(notice.code for notice in expand(spec).notices)] == ["latency_missing"]


def spec_codes(spec: Spec) -> list[str]:
    return [notice.code for notice in spec_notices(spec)]
