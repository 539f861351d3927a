"""Solves the arrangements: each once without a search, then those that may be the fastest for longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.answer.solve import solve
from crosspipe.answer.units import to_ns
from crosspipe.plans.rewrite import variants
from crosspipe.search.progress import relative_gap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crosspipe.answer.models import Answer
    from crosspipe.plans.budget import Budget
    from crosspipe.plans.candidates import Candidate
    from crosspipe.plans.rewrite import Base, Variant

SHARE = 0.5
"""Part of the time for the arrangements themselves; the rest is for where their ranking changes."""

NO_TIME = "no time was left to look at it"


@dataclass(frozen=True, slots=True)
class Solved:
    """What is known of an arrangement; without a variant or an answer `reason` says why."""

    candidate: Candidate
    variant: Variant | None = None
    answer: Answer | None = None
    reason: str | None = None

    @property
    def value_ms(self) -> float | None:
        """Time of its step, None without a schedule."""
        return None if self.answer is None else self.answer.objective.value_ms

    @property
    def bound_ms(self) -> float | None:
        """What no schedule of it can beat, None where nothing is known."""
        return None if self.answer is None else self.answer.objective.lower_bound_ms

    @property
    def counted(self) -> bool:
        """Whether its value is that of the whole step, the sums of gradients included."""
        return self.variant is not None and self.variant.counted

    @property
    def infeasible(self) -> bool:
        """Whether it is proved to have no schedule."""
        return self.answer is not None and self.answer.status == "infeasible"


@dataclass(frozen=True, slots=True)
class Asking:
    """How every solve of a plan is asked."""

    seed: int
    workers: int
    on_solve: Callable[[str], None] | None


def compare(base: Base, wanted: Sequence[Candidate], asking: Asking, budget: Budget) -> list[Solved]:
    """Solve the arrangements within their share of the time; fastest first, those without a value last."""
    rows = [_constructed(base, candidate, asking, budget) for candidate in wanted]
    rows.sort(key=_rank)
    for place, row in enumerate(rows):
        if _is_open(row, rows):
            left = sum(_is_open(other, rows) for other in rows[place:])
            # What is left of the share: the rest of the time belongs to the break-evens.
            seconds = budget.share_s(left, SHARE if place == 0 else SHARE * left / (left + 1))
            if seconds and not budget.is_over():
                rows[place] = _longer(row, seconds, asking, budget)
    return sorted(rows, key=_rank)


def best_of(rows: Sequence[Solved]) -> Solved | None:
    """Find the fastest arrangement whose value is that of the whole step; of equals the first."""
    whole = [row for row in rows if row.counted and row.value_ms is not None]
    return min(whole, key=_rank, default=None)


def _rank(row: Solved) -> tuple[bool, float]:
    return row.value_ms is None, row.value_ms or 0.0


def _is_open(row: Solved, rows: Sequence[Solved]) -> bool:
    """Whether a search may change which arrangement is the fastest, or by how much."""
    if row.variant is None or row.answer is None or row.answer.status in ("optimal", "infeasible"):
        return False
    best = best_of(rows)
    if best is None or best is row or best.value_ms is None or row.bound_ms is None:
        return True
    return row.bound_ms < best.value_ms


def _constructed(base: Base, candidate: Candidate, asking: Asking, budget: Budget) -> Solved:
    """Solve every variant of an arrangement without a search, and keep the fastest."""
    if budget.is_over():
        return Solved(candidate, reason=NO_TIME)
    found, error = variants(base, candidate)
    if error is not None:
        return Solved(candidate, reason=str(error.faults[0]) if error.faults else str(error))
    if asking.on_solve is not None:
        asking.on_solve(candidate.name)
    rows: list[Solved] = []
    for variant in found:
        if rows and budget.is_over():
            break
        answer = solve(variant.spec, time_limit_s=0, seed=asking.seed, workers=asking.workers)
        rows.append(Solved(candidate, variant, answer, _why_none(answer)))
    return min(rows, key=_rank)


def _longer(row: Solved, seconds: float, asking: Asking, budget: Budget) -> Solved:
    if row.variant is None or row.answer is None:
        return row
    if asking.on_solve is not None:
        asking.on_solve(row.candidate.name)
    starts = [row.answer] if row.answer.devices else []
    answer = solve(
        row.variant.spec,
        time_limit_s=seconds,
        seed=asking.seed,
        workers=asking.workers,
        start=starts,
        should_stop=budget.asked_to_stop,
    )
    answer = _with_bound(answer, row.answer)
    return Solved(row.candidate, row.variant, answer, _why_none(answer))


def _with_bound(answer: Answer, before: Answer) -> Answer:
    """Keep the larger of two bounds, as one search may be cut short where another was not."""
    bound, known = answer.objective.lower_bound_ms, before.objective.lower_bound_ms
    if known is None or answer.objective.value_ms is None or (bound is not None and bound >= known):
        return answer
    gap = relative_gap(to_ns(answer.objective.value_ms), to_ns(known))
    update = {"lower_bound_ms": known, "bound_from": before.objective.bound_from, "gap": gap}
    status = "optimal" if answer.objective.value_ms == known else answer.status
    objective = answer.objective.model_copy(update=update)
    return answer.model_copy(update={"objective": objective, "status": status, "certificate": before.certificate})


def _why_none(answer: Answer) -> str | None:
    if answer.explanation is not None:
        return answer.explanation.summary
    return None if answer.objective.value_ms is not None else "no schedule was found in the time there was"


__all__ = ["NO_TIME", "Asking", "Solved", "best_of", "compare"]
