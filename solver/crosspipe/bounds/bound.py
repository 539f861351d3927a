"""A lower bound as data: its value, the argument that gives it, and the numbers that argument needs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Bound:
    """No schedule of the problem has a smaller value than `value_ns`.

    Attributes
    ----------
    value_ns
        The bound, integer nanoseconds.
    name
        The argument: `critical path`, `device load`, `lane load`, `span load`, `start-up`, `last forward`, `round trip`
        or `energy`.
    where
        The device, lane or pair of operations it comes from.
    data
        Plain numbers and texts from which the value can be added up again.
    """

    value_ns: int
    name: str
    where: str
    data: dict[str, object] = field(default_factory=dict)
