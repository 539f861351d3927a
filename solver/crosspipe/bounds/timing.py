"""Heads and tails: how early each operation can start, how much time must follow its end.

Both are longest paths in the graph of `graph.py`. A head also waits for its lane to be open for long enough, and takes
the rates of slower windows; a tail counts full rates, as nobody knows when its operations run. Moving a start later
never makes a lane end a transfer sooner, so earliest starts passed on along edges stay earliest starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosspipe.bounds.exact import never_like
from crosspipe.bounds.gathering import Gathering, gatherings
from crosspipe.problem.calendar import LaneCalendar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosspipe.bounds.graph import Graph, Step
    from crosspipe.problem.links import Lane

    IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Timing:
    """Heads and tails of all operations, in nanoseconds.

    Attributes
    ----------
    head
        Earliest start. Relative to the first start on a device in `device_timing`.
    finish
        Earliest end.
    tail
        Least time from the end to the end of what is asked for; below zero where the
        operation need not come before it. `head` likewise where it need not come after the first start.
    blocked
        Operations that find no opening of their lane, which are then taken to need none.
    """

    head: NDArray[Any]
    finish: NDArray[Any]
    tail: NDArray[Any]
    blocked: tuple[int, ...] = ()


def timing(graph: Graph, lanes: Sequence[Lane] | None = None, targets: IntArray | None = None) -> Timing:
    """Compute heads and tails of the whole schedule, counted from time 0.

    Parameters
    ----------
    graph
        Of the problem.
    lanes
        Take these lanes for the problem's own (the same, with other windows).
    targets
        Operations whose ends are asked for; all of them by default.
    """
    gathered = gatherings(graph)
    head, finish, blocked = _heads(graph, graph.problem.lanes if lanes is None else lanes, gathered)
    return Timing(head, finish, _tails(graph, targets, gathered), blocked)


def device_timing(graph: Graph, devices: Sequence[int]) -> tuple[Timing, ...]:
    """Compute heads from the first start, and tails to the last end, of compute on each of `devices`.

    Only paths that begin (for tails: end) at compute of the device itself count: whatever else happens may lie before
    its first start or after its last end. Windows are left out, as the first start has no known time.
    """
    problem = graph.problem
    compute = problem.operations.kind <= 3
    never = np.full((len(problem.operations), len(devices)), never_like(graph.durations), dtype=graph.durations.dtype)
    for column, device in enumerate(devices):
        own = problem.by_resource[device]
        never[own[compute[own]], column] = 0
    head, tail = never.copy(), never
    finish = head + graph.durations[:, None]
    for step in graph.forward:
        head[step.targets] = np.maximum(head[step.targets], _longest(finish, step))
        finish[step.targets] = head[step.targets] + graph.durations[step.targets, None]
    for step in graph.backward:
        tail[step.targets] = np.maximum(tail[step.targets], _longest(tail, step))
    return tuple(Timing(head[:, k], finish[:, k], tail[:, k]) for k in range(len(devices)))


def passed_on(graph: Graph, least: NDArray[Any], lanes: Sequence[Lane]) -> Timing:
    """Raise heads that are at least `least` along all edges, openings of `lanes` counted; tails are left at 0."""
    head, finish, blocked = _heads(graph, lanes, {}, least)
    return Timing(head, finish, np.zeros_like(head), blocked)


def _heads(
    graph: Graph, lanes: Sequence[Lane], gathered: dict[int, Gathering], least: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any], tuple[int, ...]]:
    problem, durations = graph.problem, graph.durations
    head = np.zeros(len(durations), dtype=durations.dtype) if least is None else least.copy()
    finish = durations.copy()
    calendars = {len(problem.devices) + k: LaneCalendar(lane) for k, lane in enumerate(lanes) if lane.windows}
    windowed = np.isin(problem.operations.resource, list(calendars))
    blocked: list[int] = []

    def settle(operations: IntArray) -> None:
        finish[operations] = head[operations] + durations[operations]
        for op in operations[windowed[operations]].tolist():
            calendar = calendars[int(problem.operations.resource[op])]
            start = calendar.start(int(head[op]), int(durations[op]))
            if start is None:
                blocked.append(op)
            else:
                head[op], finish[op] = start, calendar.end(start, int(durations[op]))

    entries = np.ones(len(durations), dtype=bool)
    for step in graph.forward:
        entries[step.targets] = False
    settle(np.flatnonzero(entries))
    for step in graph.forward:
        head[step.targets] = np.maximum(head[step.targets], _longest(finish, step))
        for op in gathered.keys() & set(step.targets.tolist()) if gathered else ():
            head[op] = gathered[op].after(head, durations, int(head[op]))
        settle(step.targets)
    return head, finish, tuple(blocked)


def _tails(graph: Graph, targets: IntArray | None, gathered: dict[int, Gathering]) -> NDArray[Any]:
    tail = np.zeros(len(graph.durations), dtype=graph.durations.dtype)
    if targets is not None:
        tail[:] = never_like(tail)
        tail[targets] = 0
    for step in graph.backward:
        tail[step.targets] = np.maximum(tail[step.targets], _longest(tail, step))
        for op in gathered.keys() & set(step.targets.tolist()) if gathered else ():
            tail[op] = gathered[op].before(tail, graph.durations, int(tail[op]))
    return tail


def _longest(values: NDArray[Any], step: Step) -> NDArray[Any]:
    weights = step.weights if values.ndim == 1 else step.weights[:, None]
    longest: NDArray[Any] = np.maximum.reduceat(values[step.others] + weights, step.offsets, axis=0)
    return longest
