from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.costs.specs import TWO_SITES, measured, named, only_fault, stages_of

from crosspipe.costs import expand
from crosspipe.errors import TooLargeError

if TYPE_CHECKING:
    from crosspipe.spec.cluster import Pool, Site
    from crosspipe.spec.model import Spec

H100 = {"gpus": 64, "gpu": "h100-80gb"}
A100 = {"gpus": 64, "gpu": "a100-40gb"}
FOUR = {"tensor": 8, "pipeline": 4, "data": 4}


def site(spec: Spec, name: str = "east") -> Site:
    return expand(spec).spec.sites[name]


def pools(spec: Spec) -> list[Pool]:
    found = site(spec).pools
    assert found is not None
    return found


def test_gpus_become_devices_of_one_replica() -> None:
    """512 / (8 x 16)."""
    east = site(named(parallel={"tensor": 8, "pipeline": 8, "data": 16}))
    assert (east.gpus, east.devices, east.gpu, east.memory_gb) == (None, 4, "h100-80gb", 80)


def test_estimated_defaults_of_a_site() -> None:
    """One 400 Gb/s card per GPU of a group of eight."""
    east = site(named())
    assert (east.hop_latency_ms, east.hop_bandwidth_gbps) == (Decimal("0.01"), 3200)
    assert east.memory_headroom == Decimal("0.04")


def test_measured_defaults_of_a_site() -> None:
    east = site(measured())
    assert (east.hop_latency_ms, east.hop_bandwidth_gbps, east.memory_headroom) == (0, None, 0)
    assert (east.devices, east.memory_gb, east.time_factor) == (8, None, 1)


def test_given_numbers_of_a_site_are_kept() -> None:
    given: dict[str, Any] = {"hop_latency_ms": 0.5, "hop_bandwidth_gbps": 50, "memory_headroom": 0.1, "memory_gb": 64}
    east = site(named(sites={name: other | given for name, other in TWO_SITES.items()}))
    assert east.model_dump(include=set(given), mode="json") == given


def test_a_card_named_for_measured_stages_gives_its_memory() -> None:
    assert site(measured(sites={"east": {"devices": 8, "gpu": "h200"}})).memory_gb == 141


def test_an_alias_is_written_as_the_name() -> None:
    assert site(measured(sites={"east": {"devices": 8, "gpu": "H200"}})).gpu == "h200-141gb"


def test_other_cards_get_the_ratio_of_the_peaks() -> None:
    """Times are those of the first pool; 989 / 312 = 3.169872."""
    first, second = pools(named(sites={"east": {"pools": [H100, A100]}}, links=[], parallel=FOUR))
    assert (first.time_factor, second.time_factor) == (1, Decimal("3.169872"))
    assert (first.memory_gb, second.memory_gb) == (80, 40)
    assert (first.devices, second.devices) == (2, 2)


def test_a_factor_of_ones_own_multiplies_the_ratio() -> None:
    """989 / 312 x 1.5 = 4.754808; the first pool's own factor stays."""
    given = [H100 | {"time_factor": 1.25}, A100 | {"time_factor": 1.5}]
    first, second = pools(named(sites={"east": {"pools": given}}, links=[], parallel=FOUR))
    assert (first.time_factor, second.time_factor) == (Decimal("1.25"), Decimal("4.754808"))


def test_the_first_site_sets_the_times() -> None:
    """An A100 needs 989 / 312 times as long: the stage on it has that much less work in all."""
    sites = {"east": A100, "west": H100}
    links = [{"between": ["east", "west"], "bandwidth_gbps": 400}]
    expanded = expand(named(sites=sites, links=links, parallel={"tensor": 8, "pipeline": 2, "data": 8})).spec
    assert expanded.sites["east"].time_factor == 1
    assert expanded.sites["west"].time_factor == Decimal("0.315470")
    first, second = stages_of(expand(named(sites=sites, links=links, parallel={"tensor": 8, "pipeline": 2, "data": 8})))
    assert float(first.forward_ms) == pytest.approx(float(second.forward_ms) * 0.31547, rel=0.06)


def test_a_peak_of_ones_own_replaces_the_catalogues() -> None:
    """Half the peak, twice the time."""
    slow = {name: other | {"tflops": 494.5} for name, other in TWO_SITES.items()}
    parallel = {"tensor": 8, "pipeline": 8, "data": 16}
    full, half = (
        stages_of(expand(named(parallel=parallel)))[1],
        stages_of(expand(named(parallel=parallel, sites=slow)))[1],
    )
    assert half.forward_ms == pytest.approx(2 * full.forward_ms, abs=Decimal("0.002"))
    assert site(named(parallel=parallel, sites=slow)).tflops is None


def test_a_peak_is_enough_where_the_card_is_not_named() -> None:
    spec = named(
        sites={"east": {"devices": 4, "tflops": 500, "memory_gb": 64}}, links=[], parallel={"tensor": 8, "data": 1}
    )
    assert site(spec).memory_gb == 64


def test_estimates_need_a_card_or_its_peak() -> None:
    fault = only_fault(named(sites=TWO_SITES | {"west": {"devices": 4}}))
    assert (fault.pointer, fault.nearest) == ("/sites/west/gpu", "h100-80gb")


def test_measured_times_are_not_scaled_by_the_card() -> None:
    sites = {"east": {"pools": [{"devices": 4, "gpu": "h100-80gb"}, {"devices": 4, "gpu": "a100-80gb"}]}}
    assert [pool.time_factor for pool in pools(measured(sites=sites))] == [1, 1]


def test_a_price_per_gpu_becomes_one_per_device() -> None:
    sites = {name: other | {"price_per_hour": 2.5} for name, other in TWO_SITES.items()}
    assert site(named(sites=sites)).price_per_hour == 20


def test_a_price_per_device_is_kept() -> None:
    assert site(measured(sites={"east": {"devices": 8, "price_per_hour": 2.5}})).price_per_hour == Decimal("2.5")


def test_a_name_is_escaped_in_pointers() -> None:
    fault = only_fault(named(sites={"b~c": {"gpus": 8, "gpu": "abacus"}}, links=[]))
    assert fault.pointer == "/sites/b~0c/gpu"


def test_a_ratio_out_of_range_is_refused() -> None:
    sites = {"east": H100, "west": H100 | {"tflops": 0.0001}}
    with pytest.raises(TooLargeError) as caught:
        expand(named(sites=sites, parallel={"tensor": 8, "pipeline": 4, "data": 4}))
    assert caught.value.faults[0].pointer == "/sites/west"
