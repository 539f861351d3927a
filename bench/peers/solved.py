"""What a MILP solver came to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Solved:
    """Result in units of the model; the values of a solution are in its variables.

    Attributes
    ----------
    found
        Whether there is a solution.
    bound
        Proved lower bound, None if none is known.
    infeasible
        Whether it is proved that there is no solution.
    states
        Seconds on the contest's clock, best value and bound, as far as the solver told.
    """

    found: bool
    bound: float | None
    infeasible: bool = False
    states: tuple[tuple[float, float | None, float | None], ...] = ()
