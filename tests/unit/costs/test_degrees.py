"""Degrees of parallelism through the whole expansion: auto rules, contradictions, nearest legal values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.costs.specs import STAGES, STEP, TWO_SITES, layered, measured, named, only_fault, refusal, stages_of

from crosspipe.costs import expand

if TYPE_CHECKING:
    from crosspipe.errors import Fault
    from crosspipe.spec.model import Spec


def degrees(spec: Spec) -> tuple[Any, ...]:
    parallel = expand(spec).spec.parallel
    return parallel.tensor, parallel.pipeline, parallel.data


def at(fault: Fault) -> tuple[str, str | None, str | None]:
    return fault.pointer, fault.value, fault.nearest


class TestAuto:
    def test_tensor_is_eight_and_the_pipeline_the_shortest_that_fits(self) -> None:
        """One device per site: 28.5 GB of weights and two microbatches of 6.8 GB."""
        assert degrees(named()) == (8, 2, 64)

    def test_a_longer_pipeline_where_memory_is_short(self) -> None:
        """Two devices need 28.5 + 2 x 6.8 GB, four 15 + 4 x 3.4 GB, of 30.7 GB each."""
        small = {name: site | {"memory_gb": 32} for name, site in TWO_SITES.items()}
        assert degrees(named(sites=small)) == (8, 4, 32)

    def test_where_nothing_fits_the_least_overfull_is_taken(self) -> None:
        tiny = {name: site | {"memory_gb": 4} for name, site in TWO_SITES.items()}
        chosen = expand(named(sites=tiny, parallel={"tensor": 8}))
        assert [notice.code for notice in chosen.notices] == ["pipeline_does_not_fit"]
        assert chosen.spec.parallel.pipeline == 64

    def test_data_is_what_is_left(self) -> None:
        assert degrees(named(parallel={"tensor": 8, "pipeline": 8})) == (8, 8, 16)

    def test_pipeline_is_what_is_left(self) -> None:
        assert degrees(named(parallel={"tensor": 8, "data": 16})) == (8, 8, 16)

    def test_tensor_is_what_is_left_even_beyond_a_node(self) -> None:
        assert degrees(named(parallel={"pipeline": 4, "data": 16})) == (16, 4, 16)

    def test_tensor_divides_the_gpus_of_every_site(self) -> None:
        """3 and 6 tensor groups; three replicas could not share 512 sequences."""
        sites = {"east": {"gpus": 12, "gpu": "h100-80gb"}, "west": {"gpus": 24, "gpu": "h100-80gb"}}
        assert degrees(named(model="llama-3-8b", sites=sites)) == (4, 9, 1)

    def test_tensor_divides_the_heads(self) -> None:
        """28 heads: not 8 but 4."""
        sites = {"east": {"gpus": 8, "gpu": "h100-80gb"}}
        assert degrees(named(model="qwen2.5-7b", sites=sites, links=[]))[0] == 4

    def test_sites_of_unlike_size_keep_their_share(self) -> None:
        """8 and 16 tensor groups: three devices per replica, one here and two there."""
        sites = {"east": {"gpus": 64, "gpu": "h100-80gb"}, "west": {"gpus": 128, "gpu": "h100-80gb"}}
        spec = named(sites=sites)
        assert degrees(spec) == (8, 3, 8)
        assert [site.devices for site in expand(spec).spec.sites.values()] == [1, 2]

    def test_data_divides_the_batch(self) -> None:
        """64 replicas cannot share 96 sequences, 32 can."""
        assert degrees(named(training=STEP | {"global_batch": 96})) == (8, 4, 32)

    def test_devices_are_one_replica_of_tensor_one(self) -> None:
        assert degrees(measured()) == (1, 8, 1)

    def test_devices_of_a_named_model_take_the_degrees_given(self) -> None:
        sites = {"east": {"devices": 4, "gpu": "h100-80gb"}, "west": {"devices": 4, "gpu": "h100-80gb"}}
        assert degrees(named(sites=sites, parallel={"tensor": 8, "data": 16})) == (8, 8, 16)

    def test_gpus_and_devices_may_be_mixed(self) -> None:
        sites = {"east": {"gpus": 256, "gpu": "h100-80gb"}, "west": {"devices": 2, "gpu": "h100-80gb"}}
        assert degrees(named(sites=sites, parallel={"pipeline": 4, "data": 16})) == (8, 4, 16)

    def test_given_stages_say_how_long_the_pipeline_is(self) -> None:
        assert degrees(measured(sites={"east": {"gpus": 64, "gpu": "a100-80gb"}})) == (8, 8, 1)

    def test_given_stages_on_devices_of_several(self) -> None:
        spec = measured(sites={"east": {"gpus": 64, "gpu": "a100-80gb"}}, placement={"stages_per_device": 2})
        assert degrees(spec) == (8, 4, 2)

    def test_given_stages_with_a_map_say_how_long_the_pipeline_is(self) -> None:
        places = ["east/0", "east/1", "east/1", "east/0", "east/0", "east/1", "east/1", "east/0"]
        spec = measured(sites={"east": {"gpus": 64, "gpu": "a100-80gb"}}, placement={"map": places})
        assert degrees(spec) == (8, 2, 4)

    def test_measured_layers_choose_by_memory_too(self) -> None:
        """8 layers of 10 GB static: one device of 80 GB minus activations does not hold them, two do."""
        layer = {"forward_ms": 1, "backward_ms": 2, "static_mb": 10_000, "activation_mb": 100, "repeat": 8}
        spec = layered([layer], sites={"east": {"gpus": 8, "gpu": "a100-80gb"}}, parallel={"tensor": 1})
        assert degrees(spec) == (1, 2, 4)

    def test_unlimited_memory_always_fits(self) -> None:
        layer = {"forward_ms": 1, "backward_ms": 2, "static_mb": 10**9, "repeat": 8}
        assert degrees(layered([layer], devices=1)) == (1, 1, 1)


class TestContradictions:
    def test_gpus_that_do_not_make_whole_devices(self) -> None:
        sites = {"east": {"gpus": 500, "gpu": "h100-80gb"}, "west": {"gpus": 520, "gpu": "h100-80gb"}}
        faults = refusal(named(sites=sites, parallel={"tensor": 8, "data": 16}))
        assert [at(fault) for fault in faults] == [
            ("/sites/east/gpus", "500", "512"),
            ("/sites/west/gpus", "520", "512"),
        ]
        assert "tensor x data = 128" in faults[0].rule

    def test_a_pool_is_pointed_to(self) -> None:
        pools = [{"gpus": 8, "gpu": "h100-80gb"}, {"gpus": 12, "gpu": "a100-80gb"}]
        fault = only_fault(named(sites={"east": {"pools": pools}}, links=[], parallel={"tensor": 8, "data": 1}))
        assert at(fault) == ("/sites/east/pools/1/gpus", "12", "16")

    def test_a_site_too_small_for_one_device(self) -> None:
        fault = only_fault(named(sites=TWO_SITES | {"tiny": {"gpus": 4, "gpu": "h100-80gb"}}, parallel={"tensor": 8}))
        assert at(fault) == ("/sites/tiny/gpus", "4", "8")

    def test_a_pipeline_that_is_not_the_devices(self) -> None:
        fault = only_fault(named(parallel={"tensor": 8, "pipeline": 6, "data": 16}))
        assert at(fault) == ("/parallel/pipeline", "6", "8")
        assert "GPUs / (tensor x data)" in fault.rule

    def test_a_pipeline_that_no_data_degree_gives(self) -> None:
        """64 tensor groups per site: 2, 4, 8, ... devices per replica."""
        fault = only_fault(named(parallel={"tensor": 8, "pipeline": 7}))
        assert at(fault) == ("/parallel/pipeline", "7", "8")

    def test_a_pipeline_that_is_not_the_given_devices(self) -> None:
        assert at(only_fault(measured(parallel={"pipeline": 6}))) == ("/parallel/pipeline", "6", "8")

    def test_more_stages_than_layers(self) -> None:
        """80 layers and the head make 81 stages at most; powers of two below are 64."""
        fault = only_fault(named(parallel={"tensor": 8, "pipeline": 128, "data": 1}))
        assert at(fault) == ("/parallel/pipeline", "128", "64")
        assert fault.rule == "pipeline x stages_per_device is at most 81, one stage per layer"

    def test_a_batch_that_the_replicas_cannot_share(self) -> None:
        spec = named(training=STEP | {"global_batch": 500}, parallel={"tensor": 8, "pipeline": 8, "data": 16})
        fault = only_fault(spec)
        assert at(fault) == ("/training/global_batch", "500", "496")
        assert "data 16" in fault.rule

    def test_a_batch_that_no_replicas_can_share(self) -> None:
        fault = only_fault(named(training=STEP | {"global_batch": 9, "microbatch": 2}))
        assert at(fault) == ("/training/global_batch", "9", "8")

    def test_a_tensor_degree_that_does_not_divide_the_heads(self) -> None:
        sites = {"east": {"gpus": 16, "gpu": "h100-80gb"}}
        fault = only_fault(named(model="qwen2.5-7b", sites=sites, links=[], parallel={"tensor": 8}))
        assert at(fault) == ("/parallel/tensor", "8", "4")
        assert "28 attention heads" in fault.rule

    def test_sites_without_a_pipeline_for_the_given_stages(self) -> None:
        fault = only_fault(measured(sites={"east": {"gpus": 12, "gpu": "a100-80gb"}}))
        assert fault.pointer == "/sites"
        assert "8 stages are given" in fault.rule
        assert fault.value == "pipelines of 1, 2, 3, 4, 6, 12"

    def test_a_map_longer_than_the_model(self) -> None:
        layer = {"forward_ms": 1, "backward_ms": 2}
        fault = only_fault(layered([layer] * 2, placement={"map": ["east/0", "east/1", "east/0"]}))
        assert at(fault) == ("/placement/map", "3 stages", "2")

    def test_a_map_that_names_no_device_of_the_replica(self) -> None:
        """How many there are shows only once the degrees are known."""
        spec = named(placement={"map": ["east/0", "west/4"]}, parallel={"tensor": 8, "pipeline": 8})
        fault = only_fault(spec)
        assert at(fault) == ("/placement/map/1", "west/4", "east/1")

    def test_a_map_that_names_no_device(self) -> None:
        layer = {"forward_ms": 1, "backward_ms": 2}
        fault = only_fault(layered([layer] * 2, placement={"map": ["east/0", "east/2"]}))
        assert at(fault) == ("/placement/map/1", "'east/2'", "east/1")

    def test_fewer_layers_than_devices(self) -> None:
        fault = only_fault(layered([{"forward_ms": 1, "backward_ms": 2}], devices=3))
        assert fault.pointer == "/sites"
        assert "at most 1, one stage per layer" in fault.rule
        assert fault.value == "pipelines of 3"


def test_a_map_says_how_many_stages_a_model_is_cut_into() -> None:
    places = ["east/0", "west/0", "west/0", "east/0"]
    expansion = expand(named(placement={"map": places}, parallel={"tensor": 8, "pipeline": 2}))
    assert len(stages_of(expansion)) == 4


def test_stages_per_device_say_how_many_stages_a_model_is_cut_into() -> None:
    spec = named(placement={"stages_per_device": 2, "traversal": "wave"}, parallel={"tensor": 8, "pipeline": 8})
    assert len(stages_of(expand(spec))) == 16


@pytest.mark.parametrize("count", [6, 10])
def test_measured_stages_are_left_for_the_placement_to_judge(count: int) -> None:
    assert len(stages_of(expand(measured(model={"stages": STAGES | {"count": count}})))) == count
