"""`Assumption`: one thing the expansion decided because the user left it open."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Assumption:
    """A default or an estimate.

    Attributes
    ----------
    pointer
        JSON Pointer to the field of the expanded spec that it fills, or to the nearest one that it shaped.
    value
        What was assumed, as text with its unit.
    why
        The rule, formula or source it comes from.
    override
        What to write to have it otherwise.
    """

    pointer: str
    value: str
    why: str
    override: str
