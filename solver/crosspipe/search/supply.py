"""Where further problems come from while a search runs: what the spec leaves open beyond those listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.bounds.bound import Bound
    from crosspipe.problem.problem import Problem


class Supply(Protocol):
    """Problems that are not listed yet, and a bound over all of them."""

    def bound(self) -> Bound | None:
        """Bound all problems not handed out; None where none of them can beat what is known."""

    def tighten(self, value_ns: int | None, out_of_time: Callable[[], bool]) -> None:
        """Bound them anew, for schedules below `value_ns`."""

    def more(self, best: int | None, out_of_time: Callable[[], bool]) -> Problem | None:
        """Hand out the next problem, the best one so far being the `best`-th; None for none now."""

    def equal(self, value_ns: int, crossings: int, out_of_time: Callable[[], bool]) -> Problem | None:
        """Hand out a problem that may have a schedule of this value, with no more crossings; None for none."""
