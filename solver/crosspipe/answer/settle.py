"""The schedule of an outcome, judged; the one before second terms where these have spoilt it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crosspipe.answer.judge import RejectedAnswerError, judge
from crosspipe.schedule.measure import makespan_ns, span_ns
from crosspipe.search.second_terms import measured

if TYPE_CHECKING:
    from crosspipe.search.incumbents import Candidate
    from crosspipe.search.search import Outcome

SPOILT = "second terms: rejected by the checker, the schedule before them is kept"


def settled(outcome: Outcome) -> Outcome:
    """Return an outcome whose best schedule has passed the checker.

    Second terms are worth having, not worth failing for: if their schedule breaks a rule, the one before them is judged
    in its place, and the outcome says so.

    Raises
    ------
    RejectedAnswerError
        If no schedule passes.
    """
    best, terms = outcome.board.best, outcome.second_terms
    if best is None or best.schedule is None:
        return outcome
    try:
        _judge(best)
    except RejectedAnswerError as error:
        if terms is None or terms.before is best.schedule:
            raise
        best.schedule, best.source = terms.before, terms.before_from
        _judge(best)
        kept = measured(best.problem, terms.before, terms.before_from, SPOILT)
        notes = (*outcome.solver_notes, f"{SPOILT} ({error})")
        return replace(outcome, second_terms=kept, solver_notes=notes)
    return outcome


def _judge(best: Candidate) -> None:
    if best.schedule is not None:
        judge(best.problem, best.schedule, makespan_ns(best.schedule), span_ns(best.problem, best.schedule))
