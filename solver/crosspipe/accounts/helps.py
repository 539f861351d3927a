"""What would help: one thing made free at a time, by the same orders, known schedules and bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.accounts.changes import changes
from crosspipe.accounts.models import Help
from crosspipe.answer.summary import ms, percent
from crosspipe.answer.units import to_ms, to_ns
from crosspipe.bounds.best import lower_bound
from crosspipe.families.registry import run_families
from crosspipe.schedule.measure import value_ns
from crosspipe.schedule.replay import resolved
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crosspipe.accounts.changes import What
    from crosspipe.accounts.models import DeviceAccount, Load, PathPart
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders

MOST_COMPARED = 20_000
"""Above this many operations only the same orders are timed: known schedules cost as much as the construction."""


def helps(
    problem: Problem, orders: Orders, objective: Objective, now_ns: int, is_over: Callable[[], bool]
) -> list[tuple[What, int, int]]:
    """Bound what each change would give: (what, value of a schedule, lower bound), in ns.

    `problem` has its recompute options open, so that the bounds hold whatever is chosen then.
    """
    found: list[tuple[What, int, int]] = []
    for what, changed in changes(problem):
        if is_over():
            break
        bound = lower_bound(changed, objective).value_ns
        values = [now_ns, value_ns(resolved(changed, orders), timed(changed, orders, objective), objective)]
        if len(problem.operations) <= MOST_COMPARED and min(values) > bound and not is_over():
            rows = run_families(changed, objective, 0.0, bound)
            values += [row.value_ns for row in rows if row.value_ns is not None]
        found.append((what, min(values), bound))
    return sorted(found, key=lambda row: row[1])


def help_rows(
    found: Sequence[tuple[What, int, int]],
    now_ns: int,
    parts: Sequence[PathPart],
    devices: Sequence[DeviceAccount],
    loads: Sequence[Load],
    fullest: float | None,
) -> list[Help]:
    """Write them as data, with what the schedule shows for or against each."""
    return [
        Help(
            what=what,
            value_ms=to_ms(value),
            lower_bound_ms=to_ms(bound),
            gain=1 - value / now_ns if now_ns else 0.0,
            gain_at_most=max(0.0, 1 - bound / now_ns) if now_ns else 0.0,
            evidence=_evidence(what, parts, devices, loads, fullest),
        )
        for what, value, bound in found
    ]


def _evidence(
    what: What,
    parts: Sequence[PathPart],
    devices: Sequence[DeviceAccount],
    loads: Sequence[Load],
    fullest: float | None,
) -> str:
    if what == "memory":
        waited = sum(to_ns(part.ms) for device in devices for part in device.idle if part.kind == "memory")
        full = "" if fullest is None else f"; the fullest device is at {percent(fullest)}"
        return f"devices wait {ms(to_ms(waited))} in all for room{full}"
    if what == "latency":
        spent = sum(to_ns(part.ms) for part in parts if part.kind == "latency")
        return f"{ms(to_ms(spent))} of the critical path"
    spent = sum(to_ns(part.ms) for part in parts if part.kind == "transfer")
    lanes = [load for load in loads if load.kind == "lane"]
    busiest = f"; {lanes[0].resource} is busy for {percent(lanes[0].share)}" if lanes else ""
    return f"{ms(to_ms(spent))} of the critical path{busiest}"


__all__ = ["help_rows", "helps"]
