from __future__ import annotations

import pytest
import yaml
from tests.unit.costs.specs import STAGES, TWO_SITES, WAN, layered, measured, named

from crosspipe.costs import expand, expanded_text
from crosspipe.costs.text import COMMENT_WIDTH
from crosspipe.spec.model import Spec

EVERYTHING = named(
    name="a name: with 'quotes', #hash and ü",
    sites={"e~ast: #1": TWO_SITES["east"], "we\u2028\x85\x7fst": TWO_SITES["west"] | {"memory_gb": 74.5}},
    links=[
        {"between": ["e~ast: #1", "we\u2028\x85\x7fst"], "bandwidth_gbps": 0.001, "closed_ms": [[0, 5], [9, None]]},
        {"group": "ring", "bandwidth_gbps": 12.5},
    ],
    parallel={"tensor": 8, "pipeline": 8, "data": 16},
    extra_operations=[{"name": "reduce", "size_mb": 3, "lane": "ring/out", "after": [0, 1]}],
    limits={"in_flight": [3, None, 3, 3, 3, 3, 3, 3], "stage_deadlines_ms": {0: 10**6, 7: 0.0001}},
)


@pytest.mark.parametrize(
    "spec",
    [
        named(),
        EVERYTHING,
        measured(),
        measured(training={"microbatches": {"multipliers": [1, 0.00001, 3]}}),
        measured(sites={"east": {"pools": [{"devices": 4, "gpu": "h100"}, {"devices": 4, "time_factor": 1.5}]}}),
        measured(model={"stages": STAGES | {"recompute_option": {"activation_mb": 1, "recompute_ms": 1e-9}}}),
        layered([{"forward_ms": 1, "backward_ms": 2, "repeat": 4}]),
    ],
)
def test_the_text_reads_back_as_the_same_spec(spec: Spec) -> None:
    expansion = expand(spec)
    assert Spec.model_validate(yaml.safe_load(expanded_text(expansion))) == expansion.spec


def test_every_assumption_stands_in_the_text() -> None:
    expansion = expand(named())
    text = " ".join(expanded_text(expansion).replace("#", " ").split())
    assert len(expansion.assumptions) > 15
    for assumption in expansion.assumptions:
        assert f"{assumption.value}: {assumption.why}. To change: {assumption.override}" in text


def test_a_comment_stands_above_its_field() -> None:
    lines = expanded_text(expand(named(parallel={"tensor": 8, "pipeline": 8, "data": 16}))).splitlines()
    place = lines.index("  microbatches: 32")
    assert lines[place - 1] == "  # 32: global_batch 512 / (microbatch 1 x data 16). To change: training.global_batch"


def test_an_unset_field_is_told_around_its_place() -> None:
    lines = expanded_text(expand(measured())).splitlines()
    told = "  # hop_bandwidth_gbps = none: messages inside the site queue nowhere"
    place = next(number for number, line in enumerate(lines) if line.startswith(told))
    assert "  east:" in lines[place:]


def test_notices_come_first() -> None:
    lines = expanded_text(expand(named(links=[WAN | {"bandwidth_gbps": 1}]))).splitlines()
    assert lines[0].startswith("# notice hop_above_ten_forwards at /links/0: ")


def test_comments_keep_within_the_width() -> None:
    comments = [line for line in expanded_text(expand(named())).splitlines() if line.lstrip().startswith("#")]
    assert max(map(len, comments)) <= COMMENT_WIDTH


def test_every_default_is_written() -> None:
    tree = yaml.safe_load(expanded_text(expand(measured())))
    assert tree["parallel"] == {
        "tensor": 1,
        "pipeline": 8,
        "data": 1,
        "context": 1,
        "replica_messages": "merged",
        "across_sites": "pipeline",
    }
    assert tree["sites"]["east"] == {"devices": 8, "time_factor": 1, "hop_latency_ms": 0, "memory_headroom": 0}
    assert tree["model"]["stages"][7]["gradient_mb"] == 28.3
    assert tree["training"]["split_backward"] is True


def test_devices_leave_no_degree_to_choose() -> None:
    text = expanded_text(expand(measured()))
    assert "the devices given, all sites together" in text
    assert "fewest devices" not in text
    assert "divides every pool's GPUs" not in text
