"""Cloud regions that are known by name."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.unit.cli.running import call
from tests.unit.costs.specs import measured, only_fault

from crosspipe.costs import expand
from crosspipe.costs.regions import left_out, region_pair, region_pairs, with_regions
from crosspipe.spec.notices import spec_notices

SITES = {"east": {"devices": 4}, "west": {"devices": 4}}


def joined(**link: Any) -> Any:
    return measured(sites=SITES, links=[{"between": ["east", "west"], **link}])


def test_latency_and_bandwidth_are_filled_in_and_told() -> None:
    spec = joined(regions=["aws:oregon", "aws:virginia"])
    expansion = expand(spec)
    (link,) = expansion.spec.links
    assert (link.rtt_ms, link.one_way_latency_ms, link.bandwidth_gbps) == (Decimal(67), None, Decimal("0.79"))
    told = {assumption.pointer: assumption for assumption in expansion.assumptions if "links" in assumption.pointer}
    assert set(told) == {"/links/0/rtt_ms", "/links/0/bandwidth_gbps"}
    assert "DT-FM" in told["/links/0/rtt_ms"].why
    assert expand(expansion.spec).spec == expansion.spec
    assert not [notice for notice in spec_notices(spec) if notice.code == "latency_missing"]


def test_what_is_given_stays() -> None:
    (link,) = expand(
        joined(regions=["aws:virginia", "AWS:Oregon"], one_way_latency_ms=20, bandwidth_gbps=10)
    ).spec.links
    assert (link.one_way_latency_ms, link.rtt_ms, link.bandwidth_gbps) == (Decimal(20), None, Decimal(10))


def test_one_way_stays_one_way() -> None:
    (link,) = expand(joined(regions=["gcp:iowa", "gcp:oregon"], transfer_ms=3)).spec.links
    assert (link.one_way_latency_ms, link.rtt_ms, link.bandwidth_gbps) == (Decimal("19.3"), None, None)


def test_bandwidth_in_bytes_is_written_in_bits() -> None:
    """SkipPipe gives 0.09 GiB/s between Iowa and Oregon."""
    assert region_pair("gcp:iowa", "gcp:oregon", "").bandwidth_gbps == round(Decimal("0.09") * 8 * 2**30 / 10**9, 4)


def test_an_unknown_bandwidth_is_told_as_none() -> None:
    expansion = expand(joined(regions=["azure:east-us", "azure:uk-south"]))
    assert expansion.spec.links[0].bandwidth_gbps is None
    assert any(a.pointer == "/links/0/bandwidth_gbps" and "nowhere" in a.value for a in expansion.assumptions)


@pytest.mark.parametrize(
    ("regions", "nearest"),
    [
        (["aws:oregan", "aws:virginia"], "aws:oregon"),
        (["aws:oregon", "aws:ireland"], "aws:oregon with aws:ohio"),
        (["aws:oregon", "gcp:iowa"], "gcp:iowa with gcp:canada"),
        (["nowhere at all", "x"], None),
    ],
)
def test_an_unknown_pair_names_the_nearest(regions: list[str], nearest: str | None) -> None:
    fault = only_fault(joined(regions=regions))
    assert fault.pointer == "/links/0/regions"
    assert (fault.nearest is None) == (nearest is None)
    assert (nearest or "") in (fault.nearest or "")


def test_a_pair_that_is_left_out_says_why() -> None:
    fault = only_fault(joined(regions=["gcp:london", "gcp:netherlands"]))
    assert "1000 times" in fault.rule


@pytest.mark.parametrize("link", [{"regions": ["aws:oregon", "aws:oregon"]}])
def test_one_region_is_no_pair(link: dict[str, Any]) -> None:
    assert only_fault(joined(**link)).pointer == "/links/0/regions"


def test_windows_count_where_the_bandwidth_is_known() -> None:
    window = {"closed_ms": [[10, 20]]}
    assert expand(joined(regions=["aws:oregon", "aws:ohio"], **window)).spec.links[0].bandwidth_gbps == Decimal("1.10")
    assert only_fault(joined(regions=["ibm:osaka", "ibm:tokyo"], **window)).pointer == "/links/0/closed_ms"


def test_the_table_is_sound() -> None:
    pairs = region_pairs()
    assert len({frozenset(pair.between) for pair in pairs}) == len(pairs) > 70
    gone = {frozenset((first, second)) for first, second, _ in left_out()}
    for pair in pairs:
        assert len({region.partition(":")[0] for region in pair.between}) == 1
        assert Decimal(1) < pair.one_way_ms < 150
        assert pair.bandwidth_gbps is None or Decimal("0.05") < pair.bandwidth_gbps < 10
        assert frozenset(pair.between) not in gone


def test_a_spec_with_numbers_of_its_own() -> None:
    (link,) = with_regions(joined(regions=["ibm:dallas", "ibm:toronto"])).links
    assert link.regions is None
    assert link.rtt_ms == 34


def test_the_list_of_regions() -> None:
    result = call("spec", "regions", "Sydney")
    assert result.exit_code == 0
    assert all("sydney" in line for line in result.stdout.splitlines())
    assert "aws:sydney  aws:london" in result.stdout
    assert len(call("spec", "regions").stdout.splitlines()) == len(region_pairs())
    assert call("spec", "regions", "atlantis").exit_code == 2
