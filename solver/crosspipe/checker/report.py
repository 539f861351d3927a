"""What the checker says: every broken rule, and what the schedule amounts to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ViolationKind(StrEnum):
    """The rule that is broken."""

    MISSING = "missing"
    UNKNOWN = "unknown"
    DUPLICATE = "duplicate"
    NEGATIVE_START = "negative_start"
    DURATION = "duration"
    WRONG_RESOURCE = "wrong_resource"
    OVERLAP_DEVICE = "overlap_device"
    OVERLAP_LINK = "overlap_link"
    WINDOW = "window"
    DEPENDENCY = "dependency"
    ROUTE = "route"
    MEMORY = "memory"
    IN_FLIGHT = "in_flight"
    ORDER = "order"
    DEADLINE = "deadline"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule.

    Attributes
    ----------
    kind
        Which rule.
    operations
        Labels of the operations at fault; where two are compared, the earlier one first.
    where
        Device or lane, None where the rule concerns neither.
    at_ns
        When, None where no moment can be named.
    amount
        By how much: nanoseconds too early, late, long or inside a closed window; bytes or microbatches over a limit.
    message
        The same for people, with times in ms.
    """

    kind: ViolationKind
    operations: tuple[str, ...]
    where: str | None
    at_ns: int | None
    amount: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Peak:
    """The most a pool ever holds, and when it first does.

    Attributes
    ----------
    pool, device, unit
        Name of the pool, of its device, and `bytes` or `microbatches`.
    capacity
        The limit, None for none.
    amount
        Highest level, what is held all the time included.
    at_ns
        First moment of that level.
    """

    pool: str
    device: str
    unit: str
    capacity: int | None
    amount: int
    at_ns: int


@dataclass(frozen=True, slots=True)
class Report:
    """The judgement of a schedule.

    Attributes
    ----------
    violations
        All of them; none means that the schedule keeps every rule.
    makespan_ns
        Last end of any operation from 0; None if an operation is missing.
    span_ns
        Largest time over devices from the first start to the last end of compute; None if an operation is missing.
    peaks
        One per pool of the problem, in its order.
    """

    violations: tuple[Violation, ...]
    makespan_ns: int | None
    span_ns: int | None
    peaks: tuple[Peak, ...]

    @property
    def ok(self) -> bool:
        """Whether no rule is broken."""
        return not self.violations


def in_ms(time_ns: int) -> str:
    """Write nanoseconds exactly as milliseconds."""
    whole, part = divmod(abs(time_ns), 10**6)
    sign = "-" if time_ns < 0 else ""
    return f"{sign}{whole}" + (f".{part:06d}".rstrip("0") if part else "") + " ms"
