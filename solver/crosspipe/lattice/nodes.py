"""Classes of operations: the nodes of one microbatch's chain, the W's of a device, extra operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.problem.operations import Kind

TOGETHER = -(2**60)
"""Lag of an arc that speaks of the starts of both: the second is no earlier than the first."""


@dataclass(frozen=True, slots=True)
class Node:
    """One class of the chain, the joint W class of a device, or extra operations (see `extras`).

    Attributes
    ----------
    kind, stages
        W joins all stages of its device; a class of extra operations has none; any other has one.
    duration
        Ticks; the shortest of all in the class.
    lag
        Ticks from its start to the earliest start of the next node of the chain; 0 outside the chain and for its last.
    machine
        Index of the machine it occupies, -1 for none.
    count
        Number of operations.
    members
        Numbers of the extra operations; empty for any other class.
    leg
        For a message the place of its link on the way, else 0.
    """

    kind: Kind
    stages: tuple[int, ...]
    duration: int
    lag: int
    machine: int
    count: int
    members: tuple[int, ...] = ()
    leg: int = 0
