"""News of a running search, handed from the solver's threads to listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crosspipe.problem.operations import IntArray


class Listener(cp_model.CpSolverSolutionCallback):
    """Hands solutions on; the first error of a listener stops the search and is raised after it.

    The solver waits while a solution is taken. So it is only noted, and handed on by the watching thread, which leaves
    out those that a better one has overtaken; only a deterministic run hands every one on at once.
    """

    def __init__(
        self, starts: Sequence[cp_model.IntVar], on_starts: Callable[[IntArray], None], *, at_once: bool
    ) -> None:
        super().__init__()
        self._starts, self._on_starts, self._at_once = starts, on_starts, at_once
        self._noted: IntArray | None = None
        self.error: Exception | None = None

    def on_solution_callback(self) -> None:
        """Take a better solution, in one of the solver's threads."""
        self._noted = np.array([self.value(variable) for variable in self._starts], dtype=np.int64)
        if self._at_once:
            self.hand_on()

    def hand_on(self) -> None:
        """Hand on what was noted last, once."""
        starts, self._noted = self._noted, None
        if starts is not None:
            self.guarded(lambda: self._on_starts(starts))

    def guarded(self, call: Callable[[], None]) -> None:
        """Run a listener; an exception must not travel through the solver's threads."""
        try:
            call()
        except Exception as error:
            self.error = self.error or error

    def asked(self, should_stop: Callable[[], bool]) -> bool:
        """Ask the caller whether to stop; an error means yes."""
        answer = True

        def ask() -> None:
            nonlocal answer
            answer = should_stop()

        self.guarded(ask)
        return answer
