"""The schedule part of an answer: what every device and lane does, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from crosspipe.answer.models import (
    ComputeColumns,
    DeviceSchedule,
    ExtraSchedule,
    LaneSchedule,
    MemoryCurve,
    TransferColumns,
)
from crosspipe.answer.units import all_ms, to_mb, to_ms
from crosspipe.problem.operations import Kind
from crosspipe.schedule.measure import busy_ns, compute_rows, makespan_ns, peaks

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

Detail = Literal["summary", "orders", "full"]


def device_schedules(problem: Problem, schedule: Schedule, detail: Detail) -> list[DeviceSchedule]:
    """Describe every device; operations from detail `orders` on, the memory curve at `full`."""
    makespan, held, rows = makespan_ns(schedule), peaks(problem, schedule), compute_rows(problem, schedule)
    busy = busy_ns(problem, schedule)
    return [
        DeviceSchedule(
            device=device.name,
            site=device.site,
            replica=device.replica,
            busy_ms=to_ms(busy[number]),
            idle_ms=to_ms(makespan - busy[number]),
            peak_memory_mb=to_mb(held[number].amount),
            peak_at_ms=to_ms(held[number].at_ns),
            memory_mb=None if (limit := problem.pools[number].capacity) is None else to_mb(limit),
            operations=None if detail == "summary" else _compute(problem, schedule, rows[number]),
            memory_curve=_curve(problem, schedule, number) if detail == "full" else None,
        )
        for number, device in enumerate(problem.devices)
    ]


def lane_schedules(problem: Problem, schedule: Schedule, detail: Detail) -> list[LaneSchedule]:
    """Describe every lane; operations from detail `orders` on."""
    latency = {
        (hop.boundary, int(hop.kind), number): leg.latency_ns
        for hop in problem.hops
        for number, leg in enumerate(hop.legs)
    }
    names = {number: name for name, number in problem.extras}
    first = len(problem.devices)
    return [
        LaneSchedule(
            lane=lane.name,
            replica=lane.replica,
            busy_ms=to_ms(int((schedule.end_ns[rows] - schedule.start_ns[rows]).sum())),
            operations=None if detail == "summary" else _transfers(problem, schedule, rows, latency, names),
        )
        for lane, rows in zip(problem.lanes, schedule.orders.sequences[first:], strict=True)
    ]


def extra_schedules(problem: Problem, schedule: Schedule) -> list[ExtraSchedule]:
    """Say when each extra operation runs, and on what."""
    found, first = [], len(problem.devices)
    for name, number in problem.extras:
        resource = int(problem.operations.resource[number])
        # A device is told by name, which means replica 0's; what takes another's memory says so in its own name.
        on_device = 0 <= resource < problem.devices_per_replica
        found.append(
            ExtraSchedule(
                name=name,
                start_ms=to_ms(int(schedule.start_ns[number])),
                end_ms=to_ms(int(schedule.end_ns[number])),
                device=problem.devices[resource].name if on_device else None,
                lane=problem.lanes[resource - first].name if resource >= first else None,
            )
        )
    return found


def _compute(problem: Problem, schedule: Schedule, rows: IntArray) -> ComputeColumns:
    ops = problem.operations
    return ComputeColumns(
        kind=[Kind(kind).name for kind in ops.kind[rows].tolist()],
        stage=ops.stage[rows].tolist(),
        microbatch=ops.microbatch[rows].tolist(),
        start_ms=all_ms(schedule.start_ns[rows].tolist()),
        end_ms=all_ms(schedule.end_ns[rows].tolist()),
    )


def _transfers(
    problem: Problem,
    schedule: Schedule,
    rows: IntArray,
    latency_ns: dict[tuple[int, int, int], int],
    names: dict[int, str],
) -> TransferColumns:
    ops = problem.operations
    kinds, stages, legs = ops.kind[rows].tolist(), ops.stage[rows].tolist(), ops.leg[rows].tolist()
    ends = schedule.end_ns[rows].tolist()
    hops = zip(stages, kinds, legs, strict=True)
    arrivals = [end + latency_ns.get(hop, 0) for end, hop in zip(ends, hops, strict=True)]
    return TransferColumns(
        kind=[Kind(kind).name.lower() for kind in kinds],
        stage=stages,
        microbatch=ops.microbatch[rows].tolist(),
        replica=ops.replica[rows].tolist(),
        leg=legs,
        name=[names.get(number) for number in rows.tolist()],
        start_ms=all_ms(schedule.start_ns[rows].tolist()),
        end_ms=all_ms(ends),
        arrival_ms=all_ms(arrivals),
    )


def _curve(problem: Problem, schedule: Schedule, pool: int) -> MemoryCurve:
    holdings = problem.holdings
    rows = holdings.pool == pool
    at = np.concatenate([schedule.start_ns[holdings.taken_by[rows]], schedule.end_ns[holdings.given_by[rows]]])
    delta = np.concatenate([holdings.amount[rows], -holdings.amount[rows]])
    moments, place = np.unique(at, return_inverse=True)
    change = np.zeros(len(moments), dtype=np.int64)
    np.add.at(change, place, delta)
    levels = problem.pools[pool].base + np.cumsum(change)
    return MemoryCurve(at_ms=all_ms(moments.tolist()), memory_mb=[to_mb(level) for level in levels.tolist()])
