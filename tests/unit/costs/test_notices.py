from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.costs.specs import STAGES, TWO_SITES, WAN, measured, named

from crosspipe.costs import expand

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec

TWO_MEASURED = {"east": {"devices": 4}, "west": {"devices": 4}}


def notices(spec: Spec) -> list[tuple[str, str]]:
    return [(notice.code, notice.pointer) for notice in expand(spec).notices]


def test_a_sound_spec_has_none() -> None:
    assert notices(named(parallel={"tensor": 8, "pipeline": 8, "data": 16})) == []
    assert notices(measured()) == []


@pytest.mark.parametrize("memory_gb", [74.5, 85.9])
def test_memory_in_the_other_unit(memory_gb: float) -> None:
    """80 GB are 74.5 GiB, 80 GiB are 85.9 GB."""
    sites = TWO_SITES | {"west": TWO_SITES["west"] | {"memory_gb": memory_gb}}
    assert notices(named(sites=sites)) == [("gb_or_gib", "/sites/west/memory_gb")]


@pytest.mark.parametrize("memory_gb", [64, 76, 80, 84])
def test_memory_that_is_merely_different(memory_gb: float) -> None:
    sites = TWO_SITES | {"west": TWO_SITES["west"] | {"memory_gb": memory_gb}}
    assert notices(named(sites=sites)) == []


def test_a_sparse_peak() -> None:
    sites = {name: site | {"tflops": 1979} for name, site in TWO_SITES.items()}
    assert notices(named(sites=sites)) == [("sparse_peak", "/sites/east/tflops"), ("sparse_peak", "/sites/west/tflops")]


@pytest.mark.parametrize("tflops", [500, 756, 989, 1500, 3958])
def test_a_peak_that_is_merely_different(tflops: int) -> None:
    sites = {name: site | {"tflops": tflops} for name, site in TWO_SITES.items()}
    assert notices(named(sites=sites)) == []


def test_a_slow_link() -> None:
    """28.3 MB x 8 / 1 Gb/s = 226.4 ms, 12.2 forwards of 18.522 ms."""
    link = {"between": ["east", "west"], "bandwidth_gbps": 1}
    (notice,) = expand(measured(sites=TWO_MEASURED, links=[link])).notices
    assert (notice.code, notice.pointer) == ("hop_above_ten_forwards", "/links/0")
    assert "226.4 ms on the link and 0 ms of latency, 12.22 times" in notice.message


@pytest.mark.parametrize(
    ("link", "slow"),
    [
        ({"bandwidth_gbps": 1.3}, False),
        ({"one_way_latency_ms": 185}, False),
        ({"one_way_latency_ms": 186}, True),
        ({"rtt_ms": 370}, False),
        ({"rtt_ms": 372}, True),
        ({"transfer_ms": 100, "rtt_ms": 180}, True),
        ({"transfer_ms": 90, "rtt_ms": 180}, False),
    ],
)
def test_ten_forwards_are_the_line(link: dict[str, float], slow: bool) -> None:
    spec = measured(sites=TWO_MEASURED, links=[{"from": "east", "to": "west"} | link])
    assert notices(spec) == ([("hop_above_ten_forwards", "/links/0")] if slow else [])


@pytest.mark.parametrize(
    ("changes", "parallel", "slow"),
    [
        ({}, {"data": 8}, True),
        ({"per_replica": True}, {"data": 8}, False),
        ({}, {"data": 8, "replica_messages": "separate"}, False),
        ({}, {"data": 1}, False),
    ],
)
def test_replicas_that_share_a_link_send_together(
    changes: dict[str, bool], parallel: dict[str, int], slow: bool
) -> None:
    """28.3 MB x 8 / 5 Gb/s = 45.3 ms for one replica, 362.2 ms for eight."""
    link = {"between": ["east", "west"], "bandwidth_gbps": 5} | changes
    assert notices(measured(sites=TWO_MEASURED, links=[link], parallel=parallel)) == (
        [("hop_above_ten_forwards", "/links/0")] if slow else []
    )


def test_a_hop_above_ten_forwards_inside_a_site() -> None:
    assert notices(measured(sites={"east": {"devices": 8, "hop_latency_ms": 200}})) == [
        ("hop_above_ten_forwards", "/sites/east")
    ]


def test_a_channel_for_extra_operations_is_no_hop() -> None:
    assert notices(measured(links=[{"group": "ring", "bandwidth_gbps": 0.000001}])) == []


@pytest.mark.parametrize(
    ("boundary_mb", "tensor", "told"), [(8.4, 8, True), (67.1, 8, False), (8.4, 1, False), (0, 8, False)]
)
def test_a_message_of_one_gpu_of_the_group(boundary_mb: float, tensor: int, told: bool) -> None:
    """At 4096 tokens 8.4 MB are a hidden size of 1025, an eighth of 8192."""
    spec = measured(
        model={"stages": STAGES | {"boundary_mb": boundary_mb}},
        training={"microbatches": 24, "microbatch": 1, "sequence_length": 4096},
        parallel={"tensor": tensor},
    )
    assert notices(spec) == ([("boundary_per_gpu", "/model")] if told else [])


def test_estimated_messages_are_of_the_group() -> None:
    """An estimate is never told about its own message, however small the model."""
    assert (
        notices(
            named(model="llama-3.2-1b", links=[WAN | {"bandwidth_gbps": 10**6}], parallel={"tensor": 8, "data": 64})
        )
        == []
    )


def test_a_measured_table_counts_its_largest_size_below_the_message() -> None:
    """A message of 28.3 MB takes at least as long as one of 20 MB."""
    slow = {"between": ["east", "west"], "transfer_table": [[1, 1], [20, 186], [30, 200]]}
    assert notices(measured(sites=TWO_MEASURED, links=[slow])) == [("hop_above_ten_forwards", "/links/0")]
    quick = {"between": ["east", "west"], "transfer_table": [[1, 1], [20, 185], [30, 200]]}
    assert notices(measured(sites=TWO_MEASURED, links=[quick])) == []


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ({"transfer_table": [[1, 1], [28.3, 4.6]]}, None),
        ({"transfer_table": [[1, 1], [28.3, 4.4]]}, None),
        ({"transfer_table": [[1, 1], [28.3, 4.6]], "bandwidth_gbps": 100}, "transfer_table"),
        ({"transfer_table": [[1, 1], [28.3, 4.4]], "bandwidth_gbps": 100}, None),
        ({"transfer_table": [[1, 1.2], [28.3, 1.2]], "bandwidth_gbps": 100}, None),
        ({"transfer_table": [[1, 1.1], [28.3, 1.1]], "bandwidth_gbps": 100}, "transfer_table"),
        ({"transfer_ms": 4.6, "bandwidth_gbps": 100}, "transfer_ms"),
        ({"transfer_ms": 4.4, "bandwidth_gbps": 100}, None),
    ],
)
def test_a_measured_time_that_the_bandwidth_contradicts(link: dict[str, object], told: str | None) -> None:
    """28.3 MB x 8 / 100 Gb/s = 2.264 ms; told from twice that on, and below half of it."""
    given = {"between": ["east", "west"], "one_way_latency_ms": 15, **link}
    found = expand(measured(sites=TWO_MEASURED, links=[given])).notices
    expected = [("measured_against_bandwidth", f"/links/0/{told}")] if told else []
    assert [(notice.code, notice.pointer) for notice in found] == expected
    if link == {"transfer_ms": 4.6, "bandwidth_gbps": 100}:
        assert "a message of 28.3 MB takes 4.6 ms as measured and 2.264 ms at 100 Gb/s" in found[0].message


@pytest.mark.parametrize(
    ("gpus", "tensor", "told"),
    [(16, 8, False), (12, 4, False), (10, 2, True), (15, 1, True), (4, 4, False), (6, 2, False), (7, 1, True)],
)
def test_a_number_of_gpus_that_makes_tensor_small(gpus: int, tensor: int, told: bool) -> None:
    """An odd number of GPUs leaves `auto` a tensor degree that nobody wants; 12 in groups of 4 is a plan."""
    expansion = expand(named(model="llama-3-8b", sites={"east": {"gpus": gpus, "gpu": "h100-80gb"}}, links=[]))
    assert expansion.spec.parallel.tensor == tensor
    found = [notice for notice in expansion.notices if notice.code == "tensor_is_small"]
    assert [notice.pointer for notice in found] == ["/sites/east/gpus"] * told
    if gpus == 15:
        assert "15 GPUs are no multiple of 8, so `tensor` became 1 where 8 is usual; were 16 meant?" in found[0].message


def test_a_small_tensor_that_was_asked_for() -> None:
    sites = {"east": {"gpus": 15, "gpu": "h100-80gb"}}
    found = expand(named(model="llama-3-8b", sites=sites, links=[], parallel={"tensor": 1})).notices
    assert "tensor_is_small" not in [notice.code for notice in found]


@pytest.mark.parametrize(
    ("windows", "field"),
    [
        ({"closed_ms": [[0, 28_800_000]], "period_ms": 86_400_000}, "closed_ms"),
        ({"slow_ms": [[0, 28_800_000, 1]], "period_ms": 86_400_000}, "slow_ms"),
        ({"open_ms": [[0, 57_600_000]], "period_ms": 86_400_000}, "open_ms"),
        ({"open_ms": [[0, 10], [90_000, 100_000]]}, "open_ms"),
        ({"closed_ms": [[0, 40]], "period_ms": 500}, None),
        ({"closed_ms": [[1_000, None]]}, None),
        ({"open_ms": [[0, 1_000]]}, None),
        ({"closed_ms": [[0, 88_000]]}, None),
    ],
)
def test_windows_of_hours(windows: dict[str, object], field: str | None) -> None:
    """All compute of a step, one operation after the other: 24 x 8 x 45.945 ms = 8,821.44 ms; told from ten of them."""
    found = expand(measured(sites=TWO_MEASURED, links=[WAN | windows])).notices
    assert [(n.code, n.pointer) for n in found] == ([("window_outlasts_step", f"/links/0/{field}")] if field else [])
    if field == "closed_ms":
        assert "closed for 28,800,000 ms at a stretch, 3,265 times all compute of a step" in found[0].message
