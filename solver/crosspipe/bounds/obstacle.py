"""A condition that every schedule would need and the problem does not meet, with what would meet it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

NS_PER_MS = 10**6
BYTES_PER_MB = 10**6

Reason = Literal["memory", "in_flight", "link", "deadline"]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why no schedule exists.

    Attributes
    ----------
    reason
        What stands in the way.
    where
        The devices, the link, or what has the deadline.
    needs, has, smallest_sufficient
        Numbers in `unit`, None where the condition is not a number. Any amount below `smallest_sufficient` fails this
        condition; that amount meets it.
    unit
        `bytes`, `microbatches`, `ns`, or empty.
    message
        The whole in plain words.
    facts
        Numbers and names behind the message: true statements, plain JSON values.
    """

    reason: Reason
    where: str
    needs: int | None
    has: int | None
    unit: str
    smallest_sufficient: int | None
    message: str
    facts: dict[str, object] = field(default_factory=dict)


def ms(time_ns: int) -> str:
    """Write a time in ms, exactly."""
    return f"{_decimal(time_ns, NS_PER_MS)} ms"


def amount(value: int, unit: str) -> str:
    """Write bytes in MB, anything else as it is."""
    return f"{_decimal(value, BYTES_PER_MB)} MB" if unit == "bytes" else f"{value} {unit}"


def listed(names: list[str], most: int = 6) -> str:
    """Write names one after the other, the last of many as a number."""
    shown = names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(abs(value), unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0")
    return f"{'-' if value < 0 else ''}{whole}{'.' + digits if digits else ''}"
