"""From a search's outcome to the answer."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from crosspipe.answer.certify import certificate_of_parts, derived_ns, part_for_candidate
from crosspipe.answer.cut import cut_of
from crosspipe.answer.hops import crossings, hop_costs, worst_phases
from crosspipe.answer.models import (
    Answer,
    Certificate,
    Explanation,
    HistoryRow,
    Notice,
    ObjectiveValue,
    Provenance,
    Reason,
    StageAssignment,
)
from crosspipe.answer.notes import CONVENTIONS, notes_on, outside_compute
from crosspipe.answer.placements import best_family, family_rows, gain_over, placement_row
from crosspipe.answer.second_terms import second_terms
from crosspipe.answer.timetable import device_schedules, extra_schedules, lane_schedules
from crosspipe.answer.units import to_ms, to_ms_or_none
from crosspipe.answer.whole import listed_as_data
from crosspipe.assignment.shortage import shortages
from crosspipe.schedule.measure import bubble_ratio, makespan_ns, span_ns
from crosspipe.schedule.replay import resolved
from crosspipe.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crosspipe.answer.models import FreeLinks, ReplicaMessages
    from crosspipe.answer.timetable import Detail
    from crosspipe.assignment.opening import Opening
    from crosspipe.bounds.obstacle import Obstacle
    from crosspipe.costs.assignment import Assignment
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Schedule
    from crosspipe.search.incumbents import Candidate
    from crosspipe.search.options import SolveOptions
    from crosspipe.search.search import Outcome
    from crosspipe.spec.notice import Notice as SpecNotice

NS_PER_S = 10**9


def build_answer(
    outcome: Outcome,
    options: SolveOptions,
    digest: str,
    notices: Iterable[SpecNotice],
    chosen: Sequence[str],
    free_links: FreeLinks | None,
    replica_messages: ReplicaMessages | None,
    detail: Detail,
    assignment: Assignment | None = None,
    opening: Opening | None = None,
) -> Answer:
    """Put the answer together; the schedule in it must have passed the checker before.

    `assignment` is that of the best schedule where layers were cut, `opening` what was open of it.
    """
    board, best = outcome.board, outcome.board.best
    compared = board.candidates if opening is None else [best or board.candidates[0]]
    shown = best or board.candidates[0]
    problem = shown.problem
    schedule = None if best is None else best.schedule
    if schedule is not None:
        problem = resolved(problem, schedule.orders)
    makespan = None if schedule is None else makespan_ns(schedule)
    tokens = problem.tokens_per_step
    family = best_family(compared)
    return Answer(
        status=outcome.status,
        stop_reason=outcome.stop_reason,
        objective=_objective(outcome, options),
        second_terms=None if outcome.second_terms is None else second_terms(problem, outcome.second_terms),
        makespan_ms=to_ms_or_none(makespan),
        span_ms=None if schedule is None else to_ms(span_ns(problem, schedule)),
        bubble_ratio=None if schedule is None else bubble_ratio(problem, schedule, options.objective),
        tokens_per_second=tokens * NS_PER_S / makespan if tokens and makespan else None,
        best_family=None if family is None else family.name,
        gain_over_best_family=gain_over(board.value_ns, family),
        free_links=free_links,
        replica_messages=replica_messages,
        traversal=None if best is None else problem.traversal,
        assignment=_assignment(problem, assignment),
        recomputed_stages=[] if schedule is None else sorted(schedule.orders.recomputed),
        microbatches=len(problem.multipliers),
        replicas=problem.replicas,
        replicas_merged=problem.merged_replicas,
        devices=[] if schedule is None else device_schedules(problem, schedule, detail),
        transfers=[] if schedule is None else lane_schedules(problem, schedule, detail),
        extra_operations=[] if schedule is None else extra_schedules(problem, schedule),
        families=[row for candidate in compared for row in family_rows(candidate)],
        placements=[placement_row(candidate) for candidate in compared],
        cut=None if opening is None else cut_of(opening, outcome),
        hops=hop_costs(problem),
        crossings=crossings(problem),
        worst_phases=worst_phases(problem),
        warnings=[Notice(code=n.code, pointer=n.pointer, message=n.message) for n in notices],
        notes=[*chosen, *notes_on(problem), *_outside(problem, schedule), CONVENTIONS],
        explanation=_explanation(_obstacles(board.candidates, opening)) if outcome.status == "infeasible" else None,
        certificate=_certificate(outcome, options.objective, detail, opening),
        provenance=_provenance(outcome, options, digest),
    )


def _outside(problem: Problem, schedule: Schedule | None) -> list[str]:
    return [] if schedule is None else outside_compute(problem, schedule)


def _objective(outcome: Outcome, options: SolveOptions) -> ObjectiveValue:
    board = outcome.board
    bound = None if outcome.status == "infeasible" else board.bound
    name: Literal["makespan", "span"] = "makespan" if options.objective.value == "makespan" else "span"
    return ObjectiveValue(
        name=name,
        value_ms=to_ms_or_none(board.value_ns),
        lower_bound_ms=None if bound is None else to_ms_or_none(board.bound_ns),
        bound_from=None if bound is None else f"{bound.name}: {bound.where}",
        gap=None if bound is None else board.gap,
    )


def _assignment(problem: Problem, assignment: Assignment | None) -> list[StageAssignment]:
    return [
        StageAssignment(
            stage=number,
            layers=stage.layers,
            device=problem.devices[stage.device].name,
            site=problem.devices[stage.device].site,
            end_item=None if assignment is None else assignment.ends[number],
            recompute=None if assignment is None else assignment.recompute[number],
        )
        for number, stage in enumerate(problem.stages)
    ]


def _obstacles(candidates: Iterable[Candidate], opening: Opening | None) -> list[Obstacle]:
    """Why there is no schedule: for an open assignment what no cut mends, where that is known."""
    whole = () if opening is None else shortages(opening.space)
    return list(whole) or [obstacle for candidate in candidates for obstacle in candidate.obstacles]


def _explanation(obstacles: Iterable[Obstacle]) -> Explanation:
    reasons = [
        Reason(
            kind=obstacle.reason,
            where=obstacle.where,
            needs=obstacle.needs,
            has=obstacle.has,
            unit=obstacle.unit,
            smallest_sufficient=obstacle.smallest_sufficient,
            message=obstacle.message,
            facts=dict(obstacle.facts),
        )
        for obstacle in obstacles
    ]
    distinct = list({reason.message: reason for reason in reasons}.values())
    if not distinct:
        return Explanation(summary="the solver has proved that no schedule keeps all limits together", reasons=[])
    return Explanation(summary="; ".join(reason.message for reason in distinct[:3]), reasons=distinct)


def _certificate(outcome: Outcome, objective: Objective, detail: Detail, opening: Opening | None) -> Certificate | None:
    bound = outcome.board.bound
    if bound is None or outcome.status == "infeasible":
        return None
    candidates = outcome.board.candidates
    parts = [(c.problem, part_for_candidate(c, objective, bound.value_ns)) for c in candidates]
    data: dict[str, Any] = {} if detail == "summary" else certificate_of_parts(objective, parts)
    if opening is not None and data:
        # The parts of those listed may all lie above what holds for the others.
        data |= {"bound_ns": bound.value_ns, "assignments": listed_as_data(opening, opening.assignments)}
    derived = derived_ns([part for _, part in parts])
    if opening is not None and derived is not None:
        derived = min(derived, bound.value_ns)
    return Certificate(
        bound_ms=to_ms(bound.value_ns),
        name=bound.name,
        where=bound.where,
        derived_ms=to_ms_or_none(derived),
        data=data,
    )


def _provenance(outcome: Outcome, options: SolveOptions, digest: str) -> Provenance:
    best = outcome.board.best
    return Provenance(
        digest=digest,
        crosspipe_version=__version__,
        ortools_version=version("ortools"),
        python_version=platform.python_version(),
        seed=options.seed,
        workers=options.workers,
        deterministic=options.deterministic,
        time_limit_s=options.time_limit_s,
        seconds=round(outcome.seconds, 3),
        schedule_from=None if best is None else best.source,
        solver=list(outcome.solver_notes),
        history=[
            HistoryRow(
                seconds=round(row.seconds, 3),
                value_ms=to_ms_or_none(row.value_ns),
                lower_bound_ms=to_ms_or_none(row.bound_ns),
                source=row.source,
            )
            for row in outcome.board.history
        ],
    )
