"""`solve` and `check`: the two calls that the command line, the service and Python share."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, get_args

from crosspipe.answer.assigned import assignment_in
from crosspipe.answer.build import build_answer
from crosspipe.answer.free import compare_free_links
from crosspipe.answer.merged import MergedFirst, search_merged
from crosspipe.answer.notes import chosen_by_rule, kept_gathered
from crosspipe.answer.replicas import compare_messages
from crosspipe.answer.restore import SpecSource, meant_problem, parsed_spec
from crosspipe.answer.results import CheckedViolation, CheckResult
from crosspipe.answer.settle import settled
from crosspipe.answer.starts import starts_of
from crosspipe.answer.timetable import Detail
from crosspipe.answer.units import to_ms_or_none
from crosspipe.answer.ways import ways_of
from crosspipe.checker.check import check as judge_rows
from crosspipe.checker.document import placed_from_document
from crosspipe.costs.stages import MeasuredStages
from crosspipe.errors import Fault, OptionError, ScheduleFormatError
from crosspipe.problem.problem import Objective
from crosspipe.search.clock import Clock
from crosspipe.search.options import SolveOptions, usable_cores
from crosspipe.search.search import search
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.notices import spec_notices, told_once

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crosspipe.answer.models import Answer
    from crosspipe.costs.assignment import Assignment
    from crosspipe.costs.preparation import Preparation
    from crosspipe.search.progress import Progress


def solve(
    spec: SpecSource,
    *,
    time_limit_s: float = 10.0,
    objective: str = "makespan",
    relative_gap: float = 0.0,
    seed: int = 0,
    workers: int | None = None,
    deterministic: bool = False,
    detail: Detail = "orders",
    start: Sequence[Answer] = (),
    on_progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Answer:
    """Find the best schedule of a spec within a time limit, with a proven lower bound.

    Parameters
    ----------
    spec
        The cluster spec.
    time_limit_s
        Seconds from the validated spec to the answer; 0 returns the construction.
    objective
        `makespan` or `span`.
    relative_gap
        Stop once (value - bound) / value is at most this.
    seed, workers, deterministic
        See `SolveOptions`; `workers` None uses every core.
    detail
        `summary`, `orders` (with every operation) or `full` (with memory curves).
    start
        Answers to start from, with their operations: to this spec, or to one with the same operations whose times or
        limits differ. The answer is no worse than any whose orders keep this spec's limits; of one that does not fit
        `notes` says why.
    on_progress
        Called at each change and at least every second.
    should_stop
        Asked often; once true, the best so far is returned.

    Raises
    ------
    SpecError
        If the spec is malformed, contradictory or too large.
    OptionError
        If an option is out of range.
    """
    options = SolveOptions(
        objective=Objective(one_of("objective", objective, [known.value for known in Objective])),
        time_limit_s=time_limit_s,
        relative_gap=relative_gap,
        seed=seed,
        workers=usable_cores() if workers is None else workers,
        deterministic=deterministic,
    )
    one_of("detail", detail, get_args(Detail))
    parsed = parsed_spec(spec)
    clock = Clock(time_limit_s, should_stop)
    digest = spec_digest(parsed)
    ways = ways_of(parsed, digest)
    preparation, expansion = ways.preparation, ways.expansions[0]
    opening = ways.opening(digest) if options.objective is Objective.MAKESPAN else None
    problems = ways.problems if opening is None else opening.first(_assigned(start, preparation))
    starts, ignored = starts_of(start, problems, options.objective, clock)
    merged = MergedFirst()
    if opening is None:
        merged = search_merged(expansion.spec, problems, options, clock, should_stop)
        starts += merged.starts
    outcome = settled(search(problems, options, on_progress, should_stop, clock, starts, opening))
    best = outcome.board.best
    assignment = None if isinstance(preparation.source, MeasuredStages) and opening is None else expansion.assignment
    if opening is None and best is not None:
        expansion = ways.expansions[outcome.board.candidates.index(best)]
        assignment = None if assignment is None else expansion.assignment
    if opening is not None and best is not None:
        assignment = opening.assignments[outcome.board.candidates.index(best)]
        expansion = preparation.expand(assignment)
    notices = told_once([*spec_notices(parsed), *expansion.notices])
    network = None if best is None else compare_free_links(best, options, clock)
    turns = None if best is None else compare_messages(expansion.spec, best, merged, options, clock)
    chosen = [*chosen_by_rule(parsed, expansion, opening), *kept_gathered(expansion), *ignored]
    return build_answer(outcome, options, digest, notices, chosen, network, turns, detail, assignment, opening)


def _assigned(start: Sequence[Answer], preparation: Preparation) -> list[Assignment]:
    """Read the assignments of answers to start from; one that is none of this spec's is told of as a start."""
    found = []
    for answer in start if isinstance(start, list | tuple) else ():
        try:
            assignment = assignment_in(answer.model_dump(mode="json", include={"assignment"}), preparation)
        except (ScheduleFormatError, AttributeError):
            continue
        if assignment is not None:
            found.append(assignment)
    return found


def one_of(name: str, value: object, known: Sequence[str]) -> str:
    """Take an option for one of some known words.

    Raises
    ------
    OptionError
        If it is none of them.
    """
    if not isinstance(value, str) or value not in known:
        close = get_close_matches(str(value), known, n=1, cutoff=0)
        raise OptionError([Fault(f"/{name}", f"must be one of {', '.join(known)}", str(value), close[0])])
    return value


def check(spec: SpecSource, document: object) -> CheckResult:
    """Judge a schedule document against a spec: every broken rule, with operations, place, time and amount.

    Parameters
    ----------
    spec
        The cluster spec.
    document
        An answer, or `{"operations": [[kind, stage, microbatch, replica, start_ms, end_ms?], ...]}`.

    Raises
    ------
    SpecError
        If the spec is malformed.
    ScheduleFormatError
        If the document cannot be read as a schedule.
    """
    problem = meant_problem(spec, document)
    placed, recomputed = placed_from_document(problem, document)
    report = judge_rows(problem, placed, recomputed)
    return CheckResult(
        ok=report.ok,
        makespan_ms=to_ms_or_none(report.makespan_ns),
        span_ms=to_ms_or_none(report.span_ns),
        violations=[
            CheckedViolation(
                kind=violation.kind.value,
                operations=list(violation.operations),
                where=violation.where,
                at_ms=to_ms_or_none(violation.at_ns),
                amount=violation.amount,
                message=violation.message,
            )
            for violation in report.violations
        ],
    )


__all__ = ["SpecSource", "check", "solve"]
