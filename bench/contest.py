"""What a contender is given: the instance, its limits, a clock, and someone to tell."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.history import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crosspipe.problem.problem import Objective, Problem


@dataclass(slots=True)
class Contest:
    """One run of a contender; its clock starts with `compiled`, or is the contender's own.

    Attributes
    ----------
    spec, objective, limit_s, threads
        As the row says.
    tell
        Takes every state worth telling.
    """

    spec: Mapping[str, Any]
    objective: str
    limit_s: float
    threads: int | None
    tell: Callable[[State], None]
    began_s: float = field(default_factory=time.perf_counter)

    def compiled(self) -> tuple[Problem, Objective]:
        """Compile the instance for a contender other than CrossPipe, then start the clock.

        Raises
        ------
        ValueError
            If the instance leaves the placement open.
        """
        from crosspipe.costs.expand import expand  # noqa: PLC0415 - as late as CrossPipe itself is loaded
        from crosspipe.problem.compile import compile_spec  # noqa: PLC0415
        from crosspipe.problem.problem import Objective as Known  # noqa: PLC0415
        from crosspipe.spec.load import parse_spec  # noqa: PLC0415

        problems = compile_spec(expand(parse_spec(self.spec)).spec, "")
        if len(problems) != 1:
            raise ValueError(f"{len(problems)} placements to choose from; this contender takes one")
        self.began_s = time.perf_counter()
        return problems[0], Known(self.objective)

    @property
    def seconds(self) -> float:
        """Time since the clock was started."""
        return time.perf_counter() - self.began_s

    @property
    def left_s(self) -> float:
        """Time left."""
        return max(0.0, self.limit_s - self.seconds)

    def say(self, value_ns: int | None, bound_ns: int | None, source: str, at_s: float | None = None) -> None:
        """Tell the state now, or as it was at a moment."""
        self.tell(State(self.seconds if at_s is None else at_s, value_ns, bound_ns, source))
