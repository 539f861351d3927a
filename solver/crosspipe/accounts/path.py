"""The critical path: a chain of operations and messages without a pause, from time 0 to the last end.

Where an operation waited for both its input and the one before it in the order, the path goes to the one before: it
then tells of work rather than of messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.accounts.models import PathPart, PathStep
from crosspipe.answer.units import to_ms
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crosspipe.accounts.models import PathKind
    from crosspipe.accounts.timeline import Timeline

_KINDS: dict[Kind, PathKind] = {
    Kind.F: "F",
    Kind.B: "B",
    Kind.W: "W",
    Kind.BW: "BW",
    Kind.ACTIVATION: "transfer",
    Kind.GRADIENT: "transfer",
    Kind.EXTRA: "extra",
}


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the path in integers."""

    kind: PathKind
    what: str
    where: str
    start_ns: int
    end_ns: int

    @property
    def length_ns(self) -> int:
        """How long it takes."""
        return self.end_ns - self.start_ns


def critical_path(timeline: Timeline, makespan_ns: int) -> list[Stretch]:
    """Follow the critical path back from the last end; `makespan_ns` is that of the schedule as it was given.

    Returns
    -------
    list of Stretch
        In order of time, each beginning where the last one ends, the first at 0, the last ending at `makespan_ns`.
    """
    last = max(range(len(timeline.end)), key=lambda operation: (timeline.end[operation], -operation))
    found = _back_from(timeline, last)
    if makespan_ns > timeline.makespan_ns:
        found.insert(0, Stretch("delay", "later than its orders need", "", timeline.makespan_ns, makespan_ns))
    return [stretch for stretch in reversed(found) if stretch.length_ns]


def _back_from(timeline: Timeline, last: int) -> list[Stretch]:
    found: list[Stretch] = []
    operation: int | None = last
    while operation is not None:
        label, place = timeline.problem.label(operation), timeline.place(operation)
        start, ready = timeline.start[operation], timeline.ready_ns(operation)
        found.append(Stretch(_KINDS[timeline.kind(operation)], label, place, start, timeline.end[operation]))
        if start > ready:
            found.append(Stretch("closed", f"{label} waits for the lane", place, ready, start))
        before, cause = timeline.predecessor(operation), timeline.input(operation)
        if before is not None and timeline.end[before] == ready:
            operation = before
        elif cause is not None and timeline.there_ns(cause) == ready:
            operation, sent = cause.operation, timeline.end[cause.operation]
            if ready > sent:
                what = f"latency after {timeline.problem.label(operation)}"
                found.append(Stretch("latency", what, timeline.link(operation), sent, ready))
        else:
            operation = None
    return found


def steps(path: Iterable[Stretch]) -> list[PathStep]:
    """Write a path as data."""
    return [
        PathStep(kind=one.kind, what=one.what, where=one.where, start_ms=to_ms(one.start_ns), end_ms=to_ms(one.end_ns))
        for one in path
    ]


def parts(path: Sequence[Stretch], makespan_ns: int) -> list[PathPart]:
    """Sum a path by kind and place, longest first."""
    sums: dict[tuple[PathKind, str], list[int]] = {}
    for one in path:
        sums.setdefault((one.kind, one.where), []).append(one.length_ns)
    rows = sorted(sums.items(), key=lambda row: -sum(row[1]))
    return [
        PathPart(
            kind=kind,
            where=where,
            ms=to_ms(sum(lengths)),
            count=len(lengths),
            share=sum(lengths) / makespan_ns if makespan_ns else 0.0,
        )
        for (kind, where), lengths in rows
    ]


__all__ = ["Stretch", "critical_path", "parts", "steps"]
