"""`bound`: what no schedule of a spec can beat, told without looking for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.answer.certify import certificate_of_parts, derivable_part, derived_ns, no_schedule_part
from crosspipe.answer.models import Certificate
from crosspipe.answer.results import BoundResult
from crosspipe.answer.solve import one_of
from crosspipe.answer.units import to_ms, to_ms_or_none
from crosspipe.answer.ways import ways_of
from crosspipe.answer.whole import listed_as_data
from crosspipe.bounds.obstacles import obstacles
from crosspipe.certificate.write import solver_part
from crosspipe.problem.problem import Objective
from crosspipe.search.bounding import quick_bound
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec
from crosspipe.spec.model import Spec

if TYPE_CHECKING:
    from typing import Any

    from crosspipe.answer.restore import SpecSource
    from crosspipe.bounds.bound import Bound
    from crosspipe.bounds.obstacle import Obstacle
    from crosspipe.problem.problem import Problem

Found = tuple["Problem", "Bound | None", "tuple[Obstacle, ...]"]


def bound(spec: SpecSource, *, objective: str = "makespan", time_limit_s: float = 0.1) -> BoundResult:
    """Say what no schedule can beat.

    Parameters
    ----------
    spec
        The cluster spec.
    objective
        `makespan` or `span`.
    time_limit_s
        Seconds for each placement; 0 leaves it at the closed arguments.

    Raises
    ------
    SpecError
        If the spec is malformed, contradictory or too large.
    OptionError
        If the objective is unknown.
    """
    wanted = Objective(one_of("objective", objective, [known.value for known in Objective]))
    parsed = spec if isinstance(spec, Spec) else parse_spec(spec)
    digest = spec_digest(parsed)
    ways = ways_of(parsed, digest)
    opening = ways.opening(digest) if wanted is Objective.MAKESPAN else None
    problems = ways.problems if opening is None else opening.first(())
    rest: Bound | None = None
    if opening is not None:
        opening.tighten(None, lambda: False)
        rest = opening.bound()
    found: list[Found] = []
    for problem in problems:
        reasons = obstacles(problem)
        found.append((problem, None if reasons else quick_bound(problem, wanted, time_limit_s), reasons))
    bounded = [(problem, least) for problem, least, _ in found if least is not None]
    if not bounded and rest is None:
        messages = dict.fromkeys(obstacle.message for _, _, several in found for obstacle in several)
        return _result(wanted, None, None, "; ".join(list(messages)[:3]), None)
    if rest is not None:
        bounded.append((problems[0], rest))
    problem, least = min(bounded, key=lambda pair: pair[1].value_ns)
    parts = [(one, _part(one, own, reasons, least.value_ns)) for one, own, reasons in found]
    data = certificate_of_parts(wanted, parts)
    if opening is not None:
        data |= {"bound_ns": least.value_ns, "assignments": listed_as_data(opening, opening.assignments)}
    certificate = Certificate(
        bound_ms=to_ms(least.value_ns),
        name=least.name,
        where=least.where,
        derived_ms=to_ms_or_none(_derived([part for _, part in parts], least, whole=opening is None)),
        data=data,
    )
    return _result(wanted, problem, least, None, certificate)


def _derived(parts: list[dict[str, Any]], least: Bound, *, whole: bool) -> int | None:
    """Tell what can be derived; for an open assignment no more than holds for those that are not listed."""
    derived = derived_ns(parts)
    return derived if whole or derived is None else min(derived, least.value_ns)


def _part(problem: Problem, own: Bound | None, reasons: tuple[Obstacle, ...], bound_ns: int) -> dict[str, Any]:
    part = no_schedule_part(problem) if own is None else derivable_part(own)
    if part is not None:
        return part
    if own is not None:
        return solver_part(own.name, own.where, own.value_ns, None)
    return solver_part(", ".join(reason.reason for reason in reasons), "no schedule exists", bound_ns, None)


def _result(
    objective: Objective,
    problem: Problem | None,
    least: Bound | None,
    explanation: str | None,
    certificate: Certificate | None,
) -> BoundResult:
    return BoundResult(
        objective="makespan" if objective is Objective.MAKESPAN else "span",
        infeasible=least is None,
        bound_ms=None if least is None else to_ms(least.value_ns),
        name=None if least is None else least.name,
        where=None if least is None else least.where,
        traversal=None if problem is None else problem.traversal,
        explanation=explanation,
        certificate=certificate,
    )


__all__ = ["bound"]
