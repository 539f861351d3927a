"""What a spec expands to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.costs.assignment import Assignment
    from crosspipe.costs.assumption import Assumption
    from crosspipe.spec.model import Spec
    from crosspipe.spec.notice import Notice


@dataclass(frozen=True, slots=True)
class Expansion:
    """A spec with nothing left open.

    Attributes
    ----------
    spec
        The same problem as a spec of listed stages on devices: `training.microbatches`, all degrees, memory, time
        factors and hops are set. Expanding it again gives an equal spec.
    assumptions
        What was decided on the way.
    notices
        Traps that show only beside the catalogue or in the expanded numbers; those of the spec alone are
        `crosspipe.spec`'s.
    assignment
        Which items of the model form each stage, and where it sits.
    """

    spec: Spec
    assumptions: tuple[Assumption, ...]
    notices: tuple[Notice, ...]
    assignment: Assignment
