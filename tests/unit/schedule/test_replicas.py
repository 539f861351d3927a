"""Orders of a merged pipeline for replicas apart, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.unit.families.judged import accepted

from crosspipe.costs.expand import expand
from crosspipe.families.registry import best_of, run_families
from crosspipe.problem.compile import compile_spec
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import makespan_ns
from crosspipe.schedule.replicas import apart, first_of
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from crosspipe.schedule.orders import Orders

COPIES = 3


def compiled(mode: str, **link: Any) -> Problem:
    spec = parse_spec(
        {
            "model": {
                "stages": {
                    "count": 4,
                    "forward_ms": 10,
                    "backward_input_ms": 11,
                    "backward_weight_ms": 8,
                    "activation_mb": 100,
                    "boundary_mb": 10,
                }
            },
            "training": {"microbatches": 4},
            "parallel": {"data": COPIES, "replica_messages": mode},
            "sites": {"a": {"devices": 2, "memory_gb": 1}, "b": {"devices": 2, "memory_gb": 1}},
            "links": [{"between": ["a", "b"], "bandwidth_gbps": 10, "one_way_latency_ms": 15, "group": "wan", **link}],
            "extra_operations": [{"name": "sum", "duration_ms": 5, "lane": "wan/out", "after": [0, 3]}],
        }
    )
    return compile_spec(expand(spec).spec, "")[0]


def best_known(merged: Problem) -> Orders:
    best = best_of(run_families(merged, Objective.MAKESPAN, 0.0))
    assert best is not None
    assert best.orders is not None
    return best.orders


@pytest.mark.parametrize("link", [{}, {"per_replica": True}])
def test_replicas_apart_run_the_merged_schedule_in_no_more_time(link: dict[str, Any]) -> None:
    merged, separate = compiled("merged", **link), compiled("separate", **link)
    best = best_known(merged)
    turned = apart(merged, separate, best)
    assert turned is not None
    assert makespan_ns(accepted(separate, turned)) <= makespan_ns(accepted(merged, best))


def test_a_replica_goes_before_the_next_with_each_message() -> None:
    merged, separate = compiled("merged"), compiled("separate")
    best = best_known(merged)
    turned = apart(merged, separate, best)
    assert turned is not None
    lane = turned.sequences[len(separate.devices)]
    messages = lane[separate.operations.kind[lane] < Kind.EXTRA].reshape(-1, COPIES)
    assert separate.operations.replica[messages].tolist() == [list(range(COPIES))] * len(messages)


def test_there_and_back_is_where_it_was() -> None:
    merged, separate = compiled("merged"), compiled("separate")
    best = best_known(merged)
    turned = apart(merged, separate, best)
    assert turned is not None
    back = first_of(separate, merged, turned)
    assert back is not None
    assert all(np.array_equal(a, b) for a, b in zip(back.sequences, best.sequences, strict=True))


def test_another_pipeline_has_no_such_orders() -> None:
    merged, separate = compiled("merged"), compiled("separate")
    best = best_known(merged)
    other = compile_spec(
        expand(
            parse_spec(
                {
                    "model": {"stages": {"count": 2, "forward_ms": 1, "backward_ms": 1}},
                    "training": {"microbatches": 1},
                    "sites": {"a": {"devices": 2}},
                }
            )
        ).spec,
        "",
    )[0]
    assert apart(other, separate, best) is None
    assert first_of(separate, other, best) is None
