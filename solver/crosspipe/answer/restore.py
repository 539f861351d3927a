"""From a schedule document back to the problem it is for and the schedule it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from crosspipe.answer.assigned import assignment_in
from crosspipe.answer.ways import ways_of
from crosspipe.checker.check import check
from crosspipe.checker.document import placed_from_document
from crosspipe.checker.placed import key_of, keys_of
from crosspipe.errors import CrossPipeError, Fault, ScheduleFormatError, SpecError
from crosspipe.problem.compile import compile_spec
from crosspipe.schedule.graph import Graph, topological
from crosspipe.schedule.orders import Orders, Schedule
from crosspipe.schedule.replay import window_calendars
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec
from crosspipe.spec.model import Spec

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem

SpecSource = Spec | Mapping[str, object] | str | bytes
"""A parsed spec, the mapping of one, or its YAML or JSON text."""


LONGEST_NS = 2**62
"""Longest schedule that is computed with, in 64 bits; the checker judges longer ones."""


class InvalidScheduleError(CrossPipeError):
    """The schedule breaks rules, so it cannot be used; `crosspipe check` lists them all."""

    code: ClassVar[str] = "schedule_breaks_rules"


def parsed_spec(spec: SpecSource) -> Spec:
    """Read a spec in any form it may be handed over in.

    Raises
    ------
    SpecError
        If the spec is malformed, or nothing of the kind.
    """
    if isinstance(spec, Spec):
        return spec
    given: object = spec
    if not isinstance(given, Mapping | str | bytes):
        raise SpecError(
            [Fault("", "must be a Spec, a mapping, or YAML or JSON text (`path.read_text()`)", type(given).__name__)]
        )
    return parse_spec(spec)


def meant_problem(spec: SpecSource, document: object) -> Problem:
    """Compile a spec for the assignment and placement that the document names, else for the even cut and the first.

    Raises
    ------
    SpecError
        If the spec is malformed.
    ScheduleFormatError
        If the document states an assignment that cannot be.
    """
    parsed = parsed_spec(spec)
    ways = ways_of(parsed, spec_digest(parsed))
    problems = ways.problems
    opening = ways.opening(problems[0].digest)
    if opening is not None:
        assignment = assignment_in(document, ways.preparation)
        if assignment is not None:
            if assignment != ways.preparation.even() and not opening.space.permits(assignment):
                rule = "must be one that the spec leaves open: its cut, the order of its devices, what it recomputes"
                raise ScheduleFormatError([Fault("/assignment", rule)])
            problems = compile_spec(ways.preparation.expand(assignment).spec, problems[0].digest)
    stated = document if isinstance(document, Mapping) else {}
    rows = stated.get("assignment")
    meant = (stated.get("traversal"), len(rows) if isinstance(rows, list) else None, stated.get("microbatches"))
    # The more of what the document states a problem agrees with, the better; the first one at a tie.
    return max(problems, key=lambda problem: sum(a == b for a, b in zip(meant, _stated(problem), strict=True)))


def _stated(problem: Problem) -> tuple[str, int, int]:
    return problem.traversal, len(problem.stages), len(problem.multipliers)


def restore(spec: SpecSource, document: object) -> tuple[Problem, Schedule]:
    """Read the schedule that a document holds.

    Returns
    -------
    tuple of Problem and Schedule
        The problem with the document's recompute options applied, and the schedule with the document's own times.

    Raises
    ------
    SpecError
        If the spec is malformed.
    ScheduleFormatError
        If the document cannot be read as a schedule.
    InvalidScheduleError
        If the schedule breaks a rule, or lasts longer than any that is computed with.
    """
    problem = meant_problem(spec, document)
    placed, recomputed = placed_from_document(problem, document)
    report = check(problem, placed, recomputed)
    if not report.ok:
        raise InvalidScheduleError(
            f"it breaks rules ({len(report.violations)}), the first: {report.violations[0].message}"
        )
    if (report.makespan_ns or 0) > LONGEST_NS:
        raise InvalidScheduleError(
            f"the schedule lasts {report.makespan_ns} ns; at most {LONGEST_NS} are computed with"
        )
    numbers = keys_of(problem)
    start = np.zeros(len(problem.operations), dtype=np.int64)
    end = np.zeros(len(problem.operations), dtype=np.int64)
    if recomputed:
        problem = problem.recompute(recomputed)
    calendars = window_calendars(problem)
    for row in placed:
        number = numbers[key_of(row)]
        duration = int(problem.operations.duration_ns[number])
        start[number] = row.start_ns
        end[number] = row.start_ns + duration
        if number in calendars:
            end[number] = calendars[number].end(row.start_ns, duration)
    return problem, Schedule(start, end, orders_of_times(problem, start, end, recomputed))


def orders_of_times(problem: Problem, start_ns: IntArray, end_ns: IntArray, recomputed: frozenset[int]) -> Orders:
    """Order each device and lane by time; of what shares a moment, what others wait for goes first."""
    rank = _ranks(problem)
    sequences = tuple(rows[np.lexsort((rank[rows], end_ns[rows], start_ns[rows]))] for rows in problem.by_resource)
    return Orders(sequences, recomputed)


def _ranks(problem: Problem) -> IntArray:
    """Place of every operation in an order in which each stands before those that wait for it."""
    order = topological(Graph(problem))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank
