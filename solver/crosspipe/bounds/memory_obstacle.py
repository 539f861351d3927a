"""A device that cannot hold even one microbatch (`memory_need.py` proves the condition)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.bounds.memory_need import Need, short_pools
from crosspipe.bounds.obstacle import Obstacle, amount, listed

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def memory_obstacles(problem: Problem) -> tuple[Obstacle, ...]:
    """Name the pools too small for one microbatch; like shortages on several devices make one obstacle."""
    alike: dict[tuple[object, ...], list[Need]] = {}
    for need in short_pools(problem):
        limit = problem.pools[need.pool]
        if problem.devices[limit.device].replica > 0:
            continue
        always = limit.base, limit.kept
        key = (limit.unit, need.amount, limit.capacity, always, len(need.stages), bool(need.recomputed))
        alike.setdefault(key, []).append(need)
    return tuple(_obstacle(problem, group) for group in alike.values())


def _obstacle(problem: Problem, group: list[Need]) -> Obstacle:
    need, limit = group[0], problem.pools[group[0].pool]
    has = limit.capacity or 0
    devices = [problem.devices[problem.pools[other.pool].device].name for other in group]
    stages = sorted({stage for other in group for stage in other.stages})
    recomputed = sorted({stage for other in group for stage in other.recomputed})
    memory = limit.unit == "bytes"
    what = "memory" if memory else limit.name
    parts = [f"{amount(limit.base, limit.unit)} static"] if limit.base else []
    if limit.kept:
        parts.append(f"{amount(limit.kept, limit.unit)} of gathered weights")
    for_one = need.amount - limit.base - limit.kept
    if for_one:
        held = f"stage{'s' if len(need.stages) > 1 else ''} {listed([str(stage) for stage in need.stages])}"
        held = held if len(group) == 1 else "its stages" if len(need.stages) > 1 else "its stage"
        parts.append(f"{amount(for_one, limit.unit)} for one microbatch on {held}")
    even = " even with recomputation" if recomputed else ""
    verb = "needs" if len(group) == 1 else "each needs"
    message = (
        f"{what} of {listed(devices)} is too small: {verb} {amount(need.amount, limit.unit)}{even} "
        f"({' + '.join(parts)}), has {amount(has, limit.unit)}"
    )
    facts: dict[str, object] = {
        "devices": devices,
        "stages": stages,
        "needs": need.amount,
        "has": has,
        "static": limit.base,
        "one_microbatch": for_one,
    }
    if limit.kept:
        facts["gathered"] = limit.kept
    if not problem.identical:
        facts["microbatch"] = need.microbatch
    if recomputed:
        facts["recomputed_stages"] = recomputed
    return Obstacle(
        "memory" if memory else "in_flight", listed(devices), need.amount, has, limit.unit, need.amount, message, facts
    )
