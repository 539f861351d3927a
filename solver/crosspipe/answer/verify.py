"""`verify`: derive the bound of an answer again, without the solver, and hold its status against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from crosspipe.answer.certify import certificate_of_parts, no_schedule_part
from crosspipe.answer.results import VerifyResult
from crosspipe.answer.solve import check
from crosspipe.answer.units import to_ms, to_ms_or_none
from crosspipe.answer.ways import ways_of
from crosspipe.answer.whole import verify_none, verify_whole
from crosspipe.certificate.verdict import MOST_WORK, RefusedError, Verdict
from crosspipe.certificate.verify import verify as judge
from crosspipe.errors import ScheduleFormatError
from crosspipe.problem.problem import Objective
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec
from crosspipe.spec.model import Spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.answer.restore import SpecSource
    from crosspipe.assignment.opening import Opening
    from crosspipe.problem.problem import Problem


def verify(spec: SpecSource, document: object, most_work: int = MOST_WORK) -> VerifyResult:
    """Derive the bound of an answer again, measure its schedule, and see whether its status follows.

    Parameters
    ----------
    spec
        The cluster spec.
    document
        An answer, or what `bound` returns, as JSON data.
    most_work
        Elementary steps that deriving may take.

    Raises
    ------
    SpecError
        If the spec is malformed.
    """
    parsed = spec if isinstance(spec, Spec) else parse_spec(spec)
    digest = spec_digest(parsed)
    ways = ways_of(parsed, digest)
    problems = ways.problems
    try:
        return _verify(parsed, problems, ways.opening(digest), document, most_work)
    except RefusedError as refusal:
        return _result(Verdict(False, None, str(refusal), "refused"))


def _verify(
    spec: Spec, problems: Sequence[Problem], opening: Opening | None, document: object, most_work: int
) -> VerifyResult:
    if not isinstance(document, Mapping):
        raise RefusedError("the answer must be a JSON object")
    if document.get("status") == "infeasible" or document.get("infeasible") is True:
        return _no_schedule(problems, opening, most_work)
    certificate = document.get("certificate")
    if not isinstance(certificate, Mapping) or not isinstance(certificate.get("data"), Mapping):
        raise RefusedError("the answer has no certificate")
    data = dict(certificate["data"])
    if not data:
        raise RefusedError("the certificate was written without its data (detail summary)")
    if opening is not None and data.get("objective") == Objective.MAKESPAN.value:
        verdict = verify_whole(opening, data, most_work)
    else:
        verdict = judge(problems, data, most_work)
    if verdict.outcome == "refused":
        return _result(verdict)
    bound_ns = data["bound_ns"]
    if bound_ns is None or certificate.get("bound_ms") != to_ms(bound_ns):
        raise RefusedError("the certificate states one bound and gives data for another")
    objective = document.get("objective")
    value_ms = None
    if isinstance(objective, Mapping):
        if objective.get("name") != data["objective"] or objective.get("lower_bound_ms") != certificate["bound_ms"]:
            raise RefusedError("the certificate is for another objective or another bound than the answer states")
        value_ms = _measured(spec, document, objective)
        _status(document.get("status"), value_ms, to_ms(bound_ns))
    elif objective != data["objective"]:
        raise RefusedError("the certificate is for another objective")
    return _result(verdict, bound_ns, value_ms)


def _measured(spec: Spec, document: Mapping[str, object], objective: Mapping[str, object]) -> float | None:
    """Value of the answer's schedule, which must be what the answer states; None without a schedule."""
    stated = objective.get("value_ms")
    if stated is None:
        return None
    try:
        result = check(spec, document)
    except ScheduleFormatError as error:
        raise RefusedError(f"the schedule cannot be read: {str(error).splitlines()[0]}") from error
    if not result.ok:
        raise RefusedError(f"the schedule breaks a rule: {result.violations[0].message}")
    value_ms = result.makespan_ms if objective["name"] == Objective.MAKESPAN.value else result.span_ms
    if stated != value_ms:
        raise RefusedError(f"the answer states a value of {str(stated)[:40]} ms, its schedule has {value_ms} ms")
    return value_ms


def _status(status: object, value_ms: float | None, bound_ms: float) -> None:
    if value_ms is None:
        if status != "unknown":
            raise RefusedError(f"the answer has no schedule, so its status cannot be {str(status)[:40]}")
    elif value_ms < bound_ms:
        raise RefusedError("the schedule is better than the bound")
    elif status != ("optimal" if value_ms == bound_ms else "feasible"):
        raise RefusedError(f"a value of {value_ms} ms with a bound of {bound_ms} ms is not {str(status)[:40]}")


def _no_schedule(problems: Sequence[Problem], opening: Opening | None, most_work: int) -> VerifyResult:
    """Derive that no placement has a schedule; the reasons are found anew."""
    if opening is not None:
        return _result(verify_none(opening, most_work))
    parts = [(problem, no_schedule_part(problem)) for problem in problems]
    known = [(problem, part) for problem, part in parts if part is not None]
    if len(known) == len(parts):
        return _result(judge(problems, certificate_of_parts(Objective.MAKESPAN, known), most_work))
    reason = "that no schedule exists is the solver's word, or follows from deadlines or windows: it was not derived"
    return _result(Verdict(False, None, reason, "solver alone"))


def _result(verdict: Verdict, bound_ns: int | None = None, value_ms: float | None = None) -> VerifyResult:
    return VerifyResult(
        ok=verdict.ok,
        outcome=verdict.outcome,
        bound_ms=to_ms_or_none(bound_ns),
        derived_ms=to_ms_or_none(verdict.bound_ns),
        value_ms=value_ms,
        reason=verdict.reason,
    )


__all__ = ["verify"]
