"""Reading values of an untrusted JSON document: each function returns the value, or notes a fault and returns None."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

from crosspipe.errors import Fault

T = TypeVar("T")

MOST_FAULTS = 100
"""Faults noted; a document broken throughout says the same thing over and over."""

LARGEST = 10**18
"""Bound on numbers, milliseconds included: far beyond anything a spec can make."""


@dataclass(slots=True)
class Reader:
    """Collects the faults of one document."""

    faults: list[Fault] = field(default_factory=list)

    def fault(self, pointer: str, rule: str, value: str | None = None, nearest: str | None = None) -> None:
        """Note a broken rule."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(pointer, rule, value, nearest))

    def mapping(self, value: object, pointer: str) -> Mapping[str, object] | None:
        """Read an object."""
        if isinstance(value, Mapping):
            return value
        self.fault(pointer, "must be an object", shown(value))
        return None

    def rows(self, value: object, pointer: str) -> Sequence[object] | None:
        """Read an array."""
        if isinstance(value, list | tuple):
            return value
        self.fault(pointer, "must be an array", shown(value))
        return None

    def integer(self, value: object, pointer: str) -> int | None:
        """Read a whole number."""
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST:
            return value
        self.fault(pointer, "must be a whole number of at most 18 digits", shown(value))
        return None

    def text(self, value: object, pointer: str) -> str | None:
        """Read a string."""
        if isinstance(value, str):
            return value
        self.fault(pointer, "must be a string", shown(value))
        return None

    def choice(self, value: object, pointer: str, known: Mapping[str, T], what: str) -> T | None:
        """Read one of some known names."""
        name = self.text(value, pointer)
        if name is None:
            return None
        if name in known:
            return known[name]
        if len(self.faults) < MOST_FAULTS:
            near = difflib.get_close_matches(name[:200], list(known), 1, 0)
            self.fault(pointer, f"must name a known {what}", shown(name), near[0] if near else None)
        return None

    def time_ns(self, value: object, pointer: str) -> int | None:
        """Read milliseconds as a whole number of nanoseconds, exactly."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fault(pointer, "must be a number of milliseconds", shown(value))
            return None
        if not -LARGEST < value < LARGEST:  # NaN is refused too
            self.fault(pointer, "must be a number of milliseconds below 10^18", shown(value))
            return None
        time_ns = value * 10**6 if isinstance(value, int) else whole_ns(Decimal(str(value)))
        if time_ns is None:
            self.fault(pointer, "must be a whole number of nanoseconds (at most 6 decimals of a ms)", shown(value))
        return time_ns


def whole_ns(time_ms: Decimal) -> int | None:
    """Turn milliseconds into nanoseconds, None where a fraction of one is left; exact for any number of digits."""
    digits = "".join(map(str, time_ms.as_tuple().digits))
    # All digits behind the sixth decimal must be zeros; int() of the rest is exact, Decimal arithmetic would round.
    places = time_ms.adjusted() + 7
    if places <= 0 or digits[places:].strip("0"):
        return 0 if not time_ms else None
    whole = int(digits[:places].ljust(places, "0"))
    return -whole if time_ms.is_signed() else whole


def shown(value: object) -> str:
    """Show an offending value in at most a few words."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "an array"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**20:
        return "a number of more than 20 digits"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
