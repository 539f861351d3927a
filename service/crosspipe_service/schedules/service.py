"""Solves the spec of a request, in the thread that the request was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from crosspipe.answer.solve import solve
from crosspipe.errors import Fault, OptionError
from crosspipe.search.options import usable_cores
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.answer.models import Answer
    from crosspipe.answer.timetable import Detail
    from crosspipe.spec.model import Spec
    from crosspipe_service.schedules.schemas import SolveQuery
    from crosspipe_service.settings import Settings


class Solve(Protocol):
    """What the service needs of `crosspipe.solve`."""

    def __call__(
        self,
        spec: Spec,
        *,
        time_limit_s: float,
        objective: str,
        relative_gap: float,
        seed: int,
        workers: int | None,
        deterministic: bool,
        detail: Detail,
        should_stop: Callable[[], bool],
    ) -> Answer:
        """Solve a spec."""
        ...


class Solver:
    """Solves within the limits of the service."""

    def __init__(self, settings: Settings, solve: Solve = solve) -> None:
        self._settings = settings
        self._solve = solve

    def time_limit_s(self, query: SolveQuery) -> float:
        """Choose the time limit.

        Raises
        ------
        OptionError
            If the request asks for more than the service gives.
        """
        most = self._settings.max_time_limit_s
        if query.time_limit_s is None:
            return self._settings.default_time_limit_s
        if query.time_limit_s > most:
            rule = f"must be at most {most:g}, the largest of this service"
            raise OptionError([Fault("/time_limit_s", rule, f"{query.time_limit_s:g}", f"{most:g}")])
        return query.time_limit_s

    def answer(self, body: bytes, query: SolveQuery, running: int, should_stop: Callable[[], bool]) -> bytes:
        """Read the spec, solve it, write the answer as JSON; `running` solves share the cores.

        Raises
        ------
        SpecError, OptionError
        """
        answer = self._solve(
            parse_spec(body),
            time_limit_s=self.time_limit_s(query),
            objective=query.objective,
            relative_gap=query.relative_gap,
            seed=query.seed,
            workers=query.workers or self._share(query, running),
            deterministic=query.deterministic,
            detail=query.detail,
            should_stop=should_stop,
        )
        return answer.model_dump_json().encode()

    @staticmethod
    def _share(query: SolveQuery, running: int) -> int | None:
        # What else runs must not change a deterministic answer: that one takes the library's own default.
        return None if query.deterministic else max(1, usable_cores() // max(1, running))
