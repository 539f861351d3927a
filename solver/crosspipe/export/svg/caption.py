"""What the caller wants said above the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.export.svg.numbers import ms
from crosspipe.schedule.measure import makespan_ns

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule


@dataclass(frozen=True, slots=True)
class Caption:
    """Title and lines below it, as plain text.

    Attributes
    ----------
    title
        One line, set large.
    lines
        Smaller lines below it: status, makespan, bound, gap.
    """

    title: str = "Pipeline schedule"
    lines: tuple[str, ...] = ()


def counts(problem: Problem, schedule: Schedule) -> str:
    """Say in one line what the picture shows."""
    parts = [
        _count(len(problem.stages), "stage"),
        f"on {_count(problem.devices_per_replica, 'device')}",
        f"at {_count(len({device.site for device in problem.devices}), 'site')},",
        f"{_count(problem.microbatches, 'microbatch', 'microbatches')},",
    ]
    if problem.replicas > 1:
        parts.append(f"{problem.replicas} replicas,")
    return " ".join([*parts, f"makespan {ms(makespan_ns(schedule))} ms"])


def _count(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun."""
    return f"{number} {one if number == 1 else many or one + 's'}"
