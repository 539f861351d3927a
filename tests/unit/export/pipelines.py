"""Small pipelines and classic orders for the export tests, built through the public spec and the compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.compile import compile_spec
from crosspipe.problem.operations import Kind
from crosspipe.schedule.joint import join_lanes
from crosspipe.schedule.replay import replay
from crosspipe.spec.model import Spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

DIGEST = "0123456789abcdef" * 4
SPLIT = {"forward_ms": 10, "backward_input_ms": 10, "backward_weight_ms": 10}
COMBINED = {"forward_ms": 10, "backward_ms": 20}
MEMORY = {"activation_mb": 1000, "retained_mb": 400, "static_mb": 500}
TWO_SITES = {
    "east": {"devices": 2, "memory_gb": 16, "hop_latency_ms": 1},
    "west": {"devices": 2, "memory_gb": 16, "hop_latency_ms": 1},
}
WAN = {"between": ["east", "west"], "bandwidth_gbps": 100, "one_way_latency_ms": 15}


def pipeline(
    stages: int = 4,
    microbatches: object = 8,
    work: dict[str, object] | Sequence[dict[str, object]] = SPLIT,
    sites: dict[str, object] | None = None,
    links: Sequence[dict[str, object]] = (WAN,),
    **more: object,
) -> Problem:
    """Compile a pipeline of equal stages (or the stages given) on two sites of two devices."""
    each = [dict(work)] * stages if isinstance(work, dict) else list(work)
    spec = Spec.model_validate(
        {
            "model": {"stages": [{"boundary_mb": 25, "gradient_mb": 25, **MEMORY, **stage} for stage in each]},
            "training": {"microbatches": microbatches},
            "parallel": {"tensor": 1, "pipeline": 4, "data": 1},
            "sites": TWO_SITES if sites is None else sites,
            "links": list(links),
            **more,
        }
    )
    return compile_spec(spec, DIGEST)[-1]


def greedy(
    problem: Problem, reserve: Sequence[Kind] = (Kind.B, Kind.BW, Kind.F, Kind.W), cap: int | None = None
) -> Schedule:
    """Build device orders one operation at a time: the earliest possible start first, ties by the order of kinds.

    `cap` bounds the microbatches between F and backward of stage 0, in each replica.
    """
    ops, links = problem.operations, problem.precedences
    waiting = np.bincount(links.after, minlength=len(ops))
    ready = np.zeros(len(ops), dtype=np.int64)
    free = np.zeros(problem.resources + 1, dtype=np.int64)
    rank = {int(kind): place for place, kind in enumerate(reserve)}
    held = np.zeros(problem.replicas, dtype=np.int64)
    orders: list[list[int]] = [[] for _ in problem.devices]
    todo = {operation for operation in problem if waiting[operation] == 0}
    while todo:
        allowed = [
            op
            for op in todo
            if cap is None or ops.kind[op] != Kind.F or ops.stage[op] != 0 or held[ops.replica[op]] < cap
        ]
        op = min(
            allowed,
            key=lambda one: (
                max(ready[one], free[ops.resource[one]] if ops.resource[one] >= 0 else 0),
                rank.get(int(ops.kind[one]), -1),
                ops.microbatch[one] // 4,
                -ops.stage[one] if ops.kind[one] == Kind.F else 0,
                one,
            ),
        )
        todo.remove(op)
        resource, kind = int(ops.resource[op]), int(ops.kind[op])
        start = max(int(ready[op]), int(free[resource]) if resource >= 0 else 0)
        end = start + int(ops.duration_ns[op])
        if resource >= 0:
            free[resource] = end
        if kind <= Kind.BW:
            orders[resource].append(op)
        if ops.stage[op] == 0:
            held[ops.replica[op]] += {int(Kind.F): 1, int(Kind.B): -1, int(Kind.BW): -1}.get(kind, 0)
        for place in np.flatnonzero(links.before == op):
            after = links.after[place]
            ready[after] = max(ready[after], end + links.lag_ns[place])
            waiting[after] -= 1
            if waiting[after] == 0:
                todo.add(int(after))
    return timed(problem, orders)


def one_forward_one_backward(problem: Problem) -> Schedule:
    """Build 1F1B (Narayanan et al. 2019): p - r forwards to warm up, then backward and forward by turns, W at once."""
    orders = []
    for rank in range(len(problem.devices)):
        warm = min(len(problem.devices) - rank, problem.microbatches)
        cells = [(Kind.F, j) for j in range(warm)]
        for j in range(problem.microbatches):
            cells += [(Kind.B, j), (Kind.W, j), (Kind.BW, j), (Kind.F, j + warm)]
        orders.append(known(problem, rank, cells))
    return timed(problem, orders)


def zb_h1(problem: Problem) -> Schedule:
    """Build ZB-H1 (Qi et al. 2024): the order of 1F1B, each W of rank r held back by r microbatches."""
    orders = []
    for rank in range(len(problem.devices)):
        warm, late = min(len(problem.devices) - rank, problem.microbatches), rank
        cells = [(Kind.F, j) for j in range(warm)]
        for j in range(problem.microbatches + late):
            cells += [(Kind.B, j), (Kind.W, j - late), (Kind.F, j + warm)]
        orders.append(known(problem, rank, cells))
    return timed(problem, orders)


def known(problem: Problem, stage: int, cells: Sequence[tuple[Kind, int]]) -> list[int]:
    """Return the operations of a stage that exist among kinds and microbatches."""
    found = [problem.number(kind, stage, j) for kind, j in cells if 0 <= j < problem.microbatches]
    return [number for number in found if number is not None]


def timed(problem: Problem, orders: Sequence[Sequence[int]]) -> Schedule:
    """Time device orders, lanes by readiness."""
    return replay(problem, join_lanes(problem, [np.array(order, dtype=np.int64) for order in orders]))
