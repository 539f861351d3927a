"""Rule: no device ever holds more memory, and no stage more microbatches in flight, than allowed.

A holding counts from the START of the operation that takes it to the END of the one that gives it back, that end
excluded: what is given back at a moment is free for what is taken at that moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.checker.report import Peak, Violation, ViolationKind, in_ms

if TYPE_CHECKING:
    from crosspipe.checker.timetable import Timetable
    from crosspipe.problem.problem import Pool

GIVE, TAKE = 0, 1

Change = tuple[int, int, int, int]
"""Moment, `GIVE` or `TAKE`, amount (negative when given), operation."""


def pools(timetable: Timetable) -> tuple[tuple[Peak, ...], list[Violation]]:
    """Follow the level of every pool over time.

    A holding one of whose operations is missing, or whose end comes before its start, is left out: the checker
    reports these faults as what they are.

    Returns
    -------
    tuple
        The peak of each pool, and one violation per stretch of time in which a pool is over its capacity.
    """
    problem = timetable.problem
    changes: list[list[Change]] = [[] for _ in problem.pools]
    held = problem.holdings
    rows = zip(held.pool.tolist(), held.taken_by.tolist(), held.given_by.tolist(), held.amount.tolist(), strict=True)
    for pool, taken_by, given_by, amount in rows:
        taken, given = timetable.start_ns[taken_by], timetable.end_ns[given_by]
        if taken is not None and given is not None and taken < given and amount:
            changes[pool].append((taken, TAKE, amount, taken_by))
            changes[pool].append((given, GIVE, -amount, given_by))
    peaks: list[Peak] = []
    violations: list[Violation] = []
    for number, pool_info in enumerate(problem.pools):
        changes[number].sort()
        peak, over = _follow(timetable, pool_info, changes[number])
        peaks.append(peak)
        violations += over
    return tuple(peaks), violations


def _follow(timetable: Timetable, pool: Pool, changes: list[Change]) -> tuple[Peak, list[Violation]]:
    device = timetable.problem.resource_name(pool.device)
    limit = pool.capacity
    level = peak = pool.base
    peak_at = 0
    violations: list[Violation] = []
    began, worst, culprit = 0, 0, -1
    if limit is not None and level > limit:
        worst = level - limit
    for moment, direction, amount, operation in changes:
        level += amount
        if level > peak:
            peak, peak_at = level, moment
        if limit is None:
            continue
        if direction == TAKE and level > limit:
            if not worst:
                began, culprit = moment, operation
            worst = max(worst, level - limit)
        elif worst and level <= limit:
            violations.append(_over(timetable, pool, began, worst, culprit))
            worst, culprit = 0, -1
    if worst:
        violations.append(_over(timetable, pool, began, worst, culprit))
    return Peak(pool.name, device, pool.unit, limit, peak, peak_at), violations


def _over(timetable: Timetable, pool: Pool, began: int, worst: int, culprit: int) -> Violation:
    device = timetable.problem.resource_name(pool.device)
    kind = ViolationKind.MEMORY if pool.unit == "bytes" else ViolationKind.IN_FLIGHT
    labels = () if culprit < 0 else (timetable.label(culprit),)
    cause = f"{labels[0]} takes it over" if labels else "what is held all the time is over"
    message = (
        f"{pool.name} of {device}: from {in_ms(began)} on {cause} the limit of {pool.capacity} {pool.unit}, "
        f"by up to {worst} {pool.unit}"
    )
    return Violation(kind, labels, device, began, worst, message)
