"""Judge a schedule: every rule, every breach, from the problem and the claimed times alone.

Nothing is shared with the code that makes schedules; the rules are those of `docs/reference/semantics.md`. One pass
and one sort per rule: O(N log N) in the number of operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.checker.coverage import match
from crosspipe.checker.dependencies import dependencies, routes
from crosspipe.checker.durations import time_all
from crosspipe.checker.memory import pools
from crosspipe.checker.order import deadlines, order
from crosspipe.checker.overlaps import overlaps
from crosspipe.checker.report import Report
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.checker.placed import Placed
    from crosspipe.checker.timetable import Timetable
    from crosspipe.problem.problem import Problem


def check(problem: Problem, placed: Sequence[Placed], recomputed: frozenset[int] = frozenset()) -> Report:
    """Judge a schedule.

    Parameters
    ----------
    problem
        The problem, with its recompute options still open or already applied.
    placed
        One row per operation, in any order. Where a row claims no end, it ends when duration and lane imply; later
        operations are always held against that end, whatever end is claimed.
    recomputed
        Stages that take their recompute option.

    Returns
    -------
    Report
        All violations, makespan and span in nanoseconds, and the peak of every pool.

    Raises
    ------
    ValueError
        If a stage in `recomputed` has no recompute option, or the problem was resolved with other stages before.
    """
    if not problem.recomputed or recomputed - problem.recomputed:
        problem = problem.recompute(recomputed)
    rows, violations = match(problem, placed)
    timetable, ends = time_all(problem, rows)
    peaks, over = pools(timetable)
    violations += ends
    violations += overlaps(timetable)
    violations += dependencies(timetable)
    violations += routes(timetable)
    violations += over
    violations += order(timetable)
    violations += deadlines(timetable)
    complete = None not in rows
    return Report(
        tuple(violations),
        _makespan(timetable) if complete else None,
        _span(timetable) if complete else None,
        peaks,
    )


def _makespan(timetable: Timetable) -> int:
    return max((end for end in timetable.end_ns if end is not None), default=0)


def _span(timetable: Timetable) -> int:
    kinds = timetable.problem.operations.kind.tolist()
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    rows = zip(kinds, timetable.resource, timetable.start_ns, timetable.end_ns, strict=True)
    for kind, device, start, end in rows:
        if start is not None and end is not None and Kind(kind).is_compute:
            first[device] = min(start, first.get(device, start))
            last[device] = max(end, last.get(device, end))
    return max((last[device] - first[device] for device in first), default=0)
