"""What is told to the user without refusing the spec."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """A number that is legal but looks like a mistake.

    Attributes
    ----------
    code
        Names the trap; stable.
    pointer
        JSON Pointer to the field.
    message
        What was given, what it would mean, and what was perhaps meant.
    """

    code: str
    pointer: str
    message: str
