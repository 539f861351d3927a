"""`explain`: why a schedule takes as long as it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crosspipe.accounts.cut import cut_account
from crosspipe.accounts.helps import help_rows, helps
from crosspipe.accounts.idle import device_accounts
from crosspipe.accounts.loads import loads
from crosspipe.accounts.models import Account
from crosspipe.accounts.path import critical_path, parts, steps
from crosspipe.accounts.timeline import Timeline
from crosspipe.answer.models import Answer, Explanation
from crosspipe.answer.restore import SpecSource, meant_problem, parsed_spec, restore
from crosspipe.answer.units import to_ms, to_ns
from crosspipe.bounds.best import lower_bound
from crosspipe.errors import Fault, OptionError, ScheduleFormatError
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import makespan_ns, peaks, value_ns
from crosspipe.search.clock import Clock
from crosspipe.search.options import SolveOptions

if TYPE_CHECKING:
    from crosspipe.accounts.models import CutAccount
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

SPAN_NOTE = "path, waits and loads are those of the makespan; the answer's objective is the span"
LATER = "the schedule waits longer than its orders need; path and waits are those of its orders, `delay` is the rest"


def explain(spec: SpecSource, answer: Answer | Mapping[str, object], *, time_limit_s: float = 10.0) -> Account:
    """Say where the time of a schedule goes, what would help, and why the model is cut as it is.

    Parameters
    ----------
    spec
        The cluster spec.
    answer
        An answer to it with its operations, or a schedule document as `check` reads it.
    time_limit_s
        Seconds for what is compared: what would help, and other cuts. The rest takes what it takes.

    Raises
    ------
    SpecError
        If the spec is malformed.
    ScheduleFormatError, InvalidScheduleError
        If the answer holds no schedule that can be read, or one that breaks a rule.
    OptionError
        If the time limit is out of range.
    """
    SolveOptions(time_limit_s=time_limit_s)
    clock = Clock(time_limit_s)
    parsed = parsed_spec(spec)
    document = _document(answer)
    told = document.get("objective")
    about: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    if document.get("status") in ("infeasible", "unknown") and not document.get("devices"):
        return _without_schedule(document, about)
    problem, schedule = restore(parsed, document)
    objective = Objective.SPAN if about.get("name") == "span" else Objective.MAKESPAN
    free = meant_problem(parsed, document)
    return _account(problem, free, schedule, objective, about, clock, cut_account(parsed, document, clock))


def _document(answer: Answer | Mapping[str, object]) -> Mapping[str, Any]:
    if isinstance(answer, Answer):
        return answer.model_dump()
    given: object = answer
    if not isinstance(given, Mapping):
        raise ScheduleFormatError([Fault("", "must be an answer or a schedule document", type(given).__name__)])
    return given


def _account(
    problem: Problem,
    free: Problem,
    schedule: Schedule,
    objective: Objective,
    about: Mapping[str, Any],
    clock: Clock,
    cut: CutAccount | None,
) -> Account:
    """Put the account together; `free` is the problem with its recompute options open."""
    timeline = Timeline(problem, schedule.orders)
    whole_ns, now_ns = makespan_ns(schedule), value_ns(problem, schedule, objective)
    bound_ns, bound_from = _bound(free, objective, about, now_ns)
    path = critical_path(timeline, whole_ns)
    path_parts = parts(path, whole_ns)
    devices = device_accounts(timeline, whole_ns)
    busiest = loads(timeline, whole_ns, bound_ns)
    found = helps(free, schedule.orders, objective, now_ns, lambda: clock.left_s == 0)
    notes = [SPAN_NOTE] if objective is Objective.SPAN else []
    if whole_ns > timeline.makespan_ns:
        notes.append(LATER)
    return Account(
        status="optimal" if bound_ns == now_ns else "feasible",
        objective="span" if objective is Objective.SPAN else "makespan",
        value_ms=to_ms(now_ns),
        makespan_ms=to_ms(whole_ns),
        lower_bound_ms=to_ms(bound_ns),
        bound_from=bound_from,
        path=steps(path),
        path_parts=path_parts,
        devices=devices,
        loads=busiest,
        helps=help_rows(found, now_ns, path_parts, devices, busiest, _fullest(problem, schedule)),
        cut=cut,
        explanation=None,
        notes=notes,
    )


def _bound(problem: Problem, objective: Objective, about: Mapping[str, Any], now_ns: int) -> tuple[int, str]:
    """Take the answer's bound, or a closed one where it has none that can hold."""
    known, source = about.get("lower_bound_ms"), about.get("bound_from")
    if isinstance(known, int | float) and not isinstance(known, bool) and 0 <= to_ns(known) <= now_ns:
        return to_ns(known), str(source or "")
    bound = lower_bound(problem, objective)
    return bound.value_ns, f"{bound.name}: {bound.where}"


def _fullest(problem: Problem, schedule: Schedule) -> float | None:
    """Tell how full the fullest device gets, None without limits."""
    shares = [
        peak.amount / pool.capacity
        for pool, peak in zip(problem.pools, peaks(problem, schedule), strict=True)
        if pool.unit == "bytes" and pool.capacity
    ]
    return max(shares, default=None)


def _without_schedule(document: Mapping[str, Any], about: Mapping[str, Any]) -> Account:
    explanation = document.get("explanation")
    try:
        why = None if explanation is None else Explanation.model_validate(explanation)
    except ValueError as error:
        raise ScheduleFormatError([Fault("/explanation", "must be that of an answer")]) from error
    bound = about.get("lower_bound_ms")
    if bound is not None and not isinstance(bound, int | float):
        raise OptionError([Fault("/objective/lower_bound_ms", "must be a number", repr(bound))])
    return Account(
        status="infeasible" if document.get("status") == "infeasible" else "unknown",
        objective="span" if about.get("name") == "span" else "makespan",
        value_ms=None,
        makespan_ms=None,
        lower_bound_ms=bound,
        bound_from=about.get("bound_from"),
        path=[],
        path_parts=[],
        devices=[],
        loads=[],
        helps=[],
        cut=None,
        explanation=why,
        notes=[],
    )


__all__ = ["explain"]
