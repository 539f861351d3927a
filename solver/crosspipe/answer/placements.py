"""The placements of an answer, and the known schedules on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.answer.hops import crossings
from crosspipe.answer.models import FamilyRow, PlacementRow
from crosspipe.answer.units import to_mb, to_ms, to_ms_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosspipe.search.incumbents import Candidate


def family_rows(candidate: Candidate) -> list[FamilyRow]:
    """List the known schedules of a placement."""
    return [
        FamilyRow(
            name=result.name,
            traversal=candidate.problem.traversal,
            fits=result.reason is None,
            value_ms=to_ms_or_none(result.value_ns),
            peak_memory_mb=None if result.peak_bytes is None else to_mb(max(result.peak_bytes)),
            reason=result.reason,
        )
        for result in candidate.families
    ]


def best_family(candidates: Iterable[Candidate]) -> FamilyRow | None:
    """Best known schedule that fits, the greedy not counted: it is ours."""
    rows = [row for candidate in candidates for row in family_rows(candidate)]
    known = [row for row in rows if row.fits and row.value_ms is not None and row.name != "greedy"]
    return min(known, key=lambda row: row.value_ms or 0, default=None)


def gain_over(value_ns: int | None, family: FamilyRow | None) -> float | None:
    """Give the part of a known schedule's value that is saved; None where there is nothing to compare."""
    if value_ns is None or family is None or not family.value_ms:
        return None
    return 1 - to_ms(value_ns) / family.value_ms


def placement_row(candidate: Candidate) -> PlacementRow:
    """Tell what is known of a placement."""
    return PlacementRow(
        traversal=candidate.problem.traversal,
        value_ms=to_ms_or_none(candidate.value_ns),
        lower_bound_ms=None if candidate.bound is None else to_ms(candidate.bound.value_ns),
        infeasible=candidate.infeasible,
        crossings=crossings(candidate.problem),
    )


def gain_over_value(value_ns: int | None, other_ns: int | None) -> float | None:
    """Give the part of another value that is saved; None where one of them is unknown."""
    return None if value_ns is None or not other_ns else 1 - value_ns / other_ns
