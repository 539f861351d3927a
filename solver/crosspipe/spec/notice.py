"""`Notice`: something in a valid spec that is probably not what the user meant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning about one field of a valid spec.

    Attributes
    ----------
    code
        Stable name of the trap, in snake case.
    pointer
        JSON Pointer to the field.
    message
        What was read, why it looks wrong, and what to check.
    """

    code: str
    pointer: str
    message: str
