"""Why this cut: each move of one layer is impossible, worse, or not, for the reason that is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.unit.accounts.accounting import LAYER, LAYERS, account

from crosspipe.answer.solve import solve

if TYPE_CHECKING:
    from crosspipe.accounts.models import CutAccount, Move


def cut(spec: Any) -> CutAccount:
    found = account(spec).cut
    assert found is not None
    return found


def move(found: CutAccount, source: int, target: int) -> Move:
    return next(one for one in found.moves if (one.from_stage, one.to_stage) == (source, target))


def test_an_even_cut_and_its_neighbours() -> None:
    found = cut(LAYERS)
    assert found.layers == [2, 2, 2]
    assert (found.bottleneck_stage, found.bottleneck_ms) == (0, 24)
    assert len(found.moves) == 4
    for one in found.moves:
        assert one.verdict in ("worse", "proved_worse")
        assert one.bottleneck_ms == 36
    assert found.runner_up is None or found.runner_up in found.moves


def test_memory_that_a_layer_would_lack() -> None:
    heavy = [LAYER | {"static_mb": 500}, LAYER | {"static_mb": 500}, *[LAYER | {"static_mb": 700}] * 2]
    sites = {"a": {"devices": 1, "memory_gb": 1.4}, "b": {"devices": 1, "memory_gb": 1.7}}
    found = cut(LAYERS | {"model": {"layers": heavy}, "sites": sites})
    assert found.layers == [2, 2]
    forward = move(found, 0, 1)
    assert forward.verdict == "impossible"
    # Three layers of 500, 700 and 700 MB with 100 MB each in flight, on 1,700 MB.
    assert forward.missing_mb == 500
    assert "memory of b/0" in forward.reason


def test_a_stage_is_never_left_empty() -> None:
    found = cut(LAYERS | {"model": {"layers": [LAYER | {"repeat": 3}]}})
    assert found.layers == [1, 1, 1]
    assert {one.verdict for one in found.moves} == {"impossible"}
    assert all("left without a layer" in one.reason for one in found.moves)
    assert found.runner_up is None


def test_a_cut_that_is_not_the_best_is_told_so() -> None:
    given = LAYERS | {"placement": {"layers_per_stage": [4, 1, 1]}}
    found = cut(given)
    better = move(found, 0, 1)
    assert better.verdict == "better"
    assert better.value_ms is not None
    solved = solve(LAYERS | {"placement": {"layers_per_stage": [3, 2, 1]}}, time_limit_s=0, workers=1)
    assert solved.objective.value_ms is not None
    assert better.value_ms <= solved.objective.value_ms
    assert found.runner_up == better


def test_a_larger_message_between_sites_is_told() -> None:
    layers = [LAYER | {"boundary_mb": size} for size in (1, 1, 1, 1, 40, 1)]
    found = cut(LAYERS | {"model": {"layers": layers}})
    one = move(found, 2, 1)
    assert one.boundary_mb == 40
    assert "40 MB in place of 1" in one.reason
    assert move(found, 0, 1).boundary_mb is None


def test_a_model_by_name_names_its_layers() -> None:
    llama = {
        "model": "llama-3-8b",
        "training": {"global_batch": 8, "microbatch": 1, "sequence_length": 2048},
        "parallel": {"tensor": 4, "pipeline": 2},
        "sites": {"east": {"gpus": 4, "gpu": "h100-80gb"}, "west": {"gpus": 4, "gpu": "h100-80gb"}},
        "links": [{"between": ["east", "west"], "bandwidth_gbps": 100, "one_way_latency_ms": 1}],
    }
    found = cut(llama)
    assert sum(found.layers) == 33
    assert all(one.layer.startswith("layer ") for one in found.moves)
