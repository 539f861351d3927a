"""From a schedule document back to the problem it is for and the schedule it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from crosspipe.checker.check import check
from crosspipe.checker.document import placed_from_document
from crosspipe.checker.placed import key_of, keys_of
from crosspipe.costs.expand import expand
from crosspipe.errors import CrossPipeError
from crosspipe.problem.compile import compile_spec
from crosspipe.schedule.orders import Orders, Schedule
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec
from crosspipe.spec.model import Spec

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

SpecSource = Spec | Mapping[str, object] | str | bytes
"""A parsed spec, the mapping of one, or its YAML or JSON text."""


class InvalidScheduleError(CrossPipeError):
    """The schedule breaks rules, so it cannot be used; `crosspipe check` lists them all."""

    code: ClassVar[str] = "schedule_breaks_rules"


def meant_problem(spec: SpecSource, document: object) -> Problem:
    """Compile a spec for the placement that the document names in `traversal`, else for the first."""
    parsed = spec if isinstance(spec, Spec) else parse_spec(spec)
    problems = compile_spec(expand(parsed).spec, spec_digest(parsed))
    traversal = document.get("traversal") if isinstance(document, Mapping) else None
    return next((problem for problem in problems if problem.traversal == traversal), problems[0])


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
        If the schedule breaks a rule.
    """
    problem = meant_problem(spec, document)
    placed, recomputed = placed_from_document(problem, document)
    report = check(problem, placed, recomputed)
    if not report.ok:
        raise InvalidScheduleError(f"{len(report.violations)} broken rules, the first: {report.violations[0].message}")
    numbers = keys_of(problem)
    start = np.zeros(len(problem.operations), dtype=np.int64)
    end = np.zeros(len(problem.operations), dtype=np.int64)
    if recomputed:
        problem = problem.recompute(recomputed)
    for row in placed:
        number = numbers[key_of(row)]
        start[number] = row.start_ns
        end[number] = row.start_ns + problem.operations.duration_ns[number] if row.end_ns is None else row.end_ns
    sequences = tuple(rows[np.lexsort((end[rows], start[rows]))] for rows in problem.by_resource)
    return problem, Schedule(start, end, Orders(sequences, recomputed))
