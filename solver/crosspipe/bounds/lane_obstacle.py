"""A link that does not open for long enough, or closes for ever too soon.

Three conditions, each on one lane and each necessary:

1. A transfer may not be in progress while the lane is closed, so one of its openings must carry the longest transfer.
   Openings join across the border of a period, and so do closed windows; a slower window is open but carries less.
2. The same after the head of the operation: an opening before it is ready is of no use.
3. A lane that closes for ever must have carried everything by then. Heads are computed as if no lane ever closed for
   ever; an operation whose end is then later than the closing would, in a schedule that does fit, end earlier than its
   head allows. The lane as a whole must also find time for all its work: the preemptive one-machine bound over its
   openings, and, where all transfers are alike, putting each in the earliest opening in the order in which they can be
   ready, which ends the last one as early as possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.bounds.obstacle import Obstacle, ms
from crosspipe.bounds.one_machine import preemptive
from crosspipe.bounds.openings import closes_for_ever_ns, openings, without_last_closing
from crosspipe.bounds.timing import timing
from crosspipe.problem.calendar import LaneCalendar, by_period

if TYPE_CHECKING:
    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.timing import Timing
    from crosspipe.problem.links import Lane


@dataclass(frozen=True, slots=True)
class _Short:
    """What a lane lacks: an opening of `needs_ns` where it has `has_ns`, or to stay open until `needs_ns`."""

    lane: Lane
    closing: bool
    needs_ns: int
    has_ns: int
    operation: int
    ready_ns: int


def lane_obstacles(graph: Graph) -> tuple[Obstacle, ...]:
    """Name the links whose windows no schedule can live with; the lanes of a channel make one obstacle."""
    problem = graph.problem
    first = len(problem.devices)
    if not any(lane.windows and len(problem.by_resource[first + k]) for k, lane in enumerate(problem.lanes)):
        return ()
    lanes = [without_last_closing(lane) for lane in problem.lanes]
    times = timing(graph, lanes)
    worst: dict[tuple[str, bool], _Short] = {}
    for k, lane in enumerate(lanes):
        if not problem.lanes[k].windows or not len(problem.by_resource[first + k]):
            continue
        short = _too_narrow(graph, times, first + k, lane) or _closes_too_soon(graph, times, first + k, lane)
        if short is None:
            continue
        key = lane.channel, short.closing
        if key not in worst or short.needs_ns > worst[key].needs_ns:
            worst[key] = short
    return tuple(_obstacle(graph, short) for short in worst.values())


def _too_narrow(graph: Graph, times: Timing, resource: int, lane: Lane) -> _Short | None:
    """Conditions 1 and 2; the lane does not close for ever here."""
    opened = openings(lane)
    if opened is None:
        # Too long a round of all periods together: what fits beside the windows of no single one does not fit.
        parts = by_period(lane)
        shorts = (_too_narrow(graph, times, resource, part) for part in parts if part != lane)
        return next((short for short in shorts if short is not None), None)
    rows = graph.problem.by_resource[resource]
    longest = int(rows[graph.durations[rows].argmax()])
    blocked = set(times.blocked) & set(rows.tolist())
    for op in [longest, *sorted(blocked)]:
        ready = 0 if op not in blocked else int(times.head[op])
        widest = opened.widest(ready)
        duration = int(graph.durations[op])
        if widest is not None and widest < duration * opened.full:
            return _Short(lane, False, duration, widest // opened.full, op, ready)
    return None


def _closes_too_soon(graph: Graph, times: Timing, resource: int, lane: Lane) -> _Short | None:
    """Condition 3."""
    closing = closes_for_ever_ns(graph.problem.lanes[resource - len(graph.problem.devices)])
    if closing is None:
        return None
    rows = graph.problem.by_resource[resource]
    last = int(rows[times.finish[rows].argmax()])
    heads, durations = times.head[rows].tolist(), graph.durations[rows].tolist()
    load = preemptive(heads, durations, [0] * len(rows), openings(lane))
    needs = max(int(times.finish[last]), 0 if load is None else load.value_ns, one_by_one(lane, heads, durations) or 0)
    return _Short(lane, True, needs, closing, last, int(times.head[last])) if needs > closing else None


def one_by_one(lane: Lane, heads: list[int], durations: list[int]) -> int | None:
    """End of the last of equally long transfers, each in the earliest opening left; None if they are unlike."""
    if len(set(durations)) != 1:
        return None
    calendar, end = LaneCalendar(lane), 0
    for head in sorted(heads):
        start = calendar.start(max(head, end), durations[0])
        if start is None:
            return None
        end = calendar.end(start, durations[0])
    return end


def _obstacle(graph: Graph, short: _Short) -> Obstacle:
    problem, lane = graph.problem, short.lane
    what = problem.label(short.operation)
    facts: dict[str, object] = {
        "channel": lane.channel,
        "lane": lane.name,
        "operation": what,
        "ready_ns": short.ready_ns,
        "needs": short.needs_ns,
        "has": short.has_ns,
    }
    if short.closing and short.has_ns > 0:
        text = (
            f"link {lane.channel} closes for ever at {ms(short.has_ns)} but must stay open until "
            f"{ms(short.needs_ns)} at least: the {what} is ready at {ms(short.ready_ns)} at the earliest"
        )
    elif short.has_ns == 0:
        text = f"link {lane.channel} is closed all the time, and the {what} must cross it"
    else:
        after = f" after {ms(short.ready_ns)}, when the {what} is ready at the earliest," if short.ready_ns else ""
        text = (
            f"link {lane.channel} is never open for long enough: a transfer takes {ms(short.needs_ns)} at the "
            f"full rate, the longest opening{after} is worth {ms(short.has_ns)}"
        )
    if problem.robust and not short.closing:
        text += " (its windows are anchored to the clock, so every phase counts)"
    return Obstacle("link", lane.channel, short.needs_ns, short.has_ns, "ns", short.needs_ns, text, facts)
