"""Classes of operations: the nodes of one microbatch's chain, and the W's of a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.problem.problem import Kind


@dataclass(frozen=True, slots=True)
class Node:
    """One class of the chain, or the joint W class of a device.

    Attributes
    ----------
    kind, stages
        W joins all stages of its device; any other class has one.
    duration
        Ticks; the shortest of the stages for W.
    lag
        Ticks from its start to the earliest start of the next node of the chain; 0 for the last and for W.
    machine
        Index of the machine it occupies, -1 for none.
    """

    kind: Kind
    stages: tuple[int, ...]
    duration: int
    lag: int
    machine: int
