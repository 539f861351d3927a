"""Telling how the layers came to their stages and devices: rules beaten, the runner-up, the bound of the rest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crosspipe.answer.cut_models import Cut, OtherCut, RuleCutRow
from crosspipe.answer.placements import gain_over_value
from crosspipe.answer.units import to_ms, to_ms_or_none

if TYPE_CHECKING:
    from crosspipe.assignment.opening import Opening
    from crosspipe.costs.assignment import Assignment
    from crosspipe.search.incumbents import Candidate
    from crosspipe.search.search import Outcome


def cut_of(opening: Opening, outcome: Outcome) -> Cut | None:
    """Tell of the best assignment; None without a schedule."""
    board = outcome.board
    best = board.best
    if best is None:
        return None
    known = list(zip(opening.assignments, board.candidates, strict=True))
    chosen = next(assignment for assignment, candidate in known if candidate is best)
    others = [(assignment, candidate) for assignment, candidate in known if candidate is not best]
    with_value = [pair for pair in others if pair[1].value_ns is not None]
    runner_up = min(with_value, key=lambda pair: pair[1].value_ns or 0, default=None)
    return Cut(
        layers_per_stage=list(chosen.counts),
        considered=len(known),
        rest_bound_ms=None if board.rest is None else to_ms(board.rest.value_ns),
        runner_up=None if runner_up is None else _other(opening, *runner_up, best),
        rules=[_rule(opening, number, known, best) for number in range(len(opening.rules))],
    )


def _other(opening: Opening, assignment: Assignment, candidate: Candidate, best: Candidate) -> OtherCut:
    names = [name for name, _ in opening.preparation.devices]
    value, own = candidate.value_ns, best.value_ns
    return OtherCut(
        layers_per_stage=list(assignment.counts),
        devices=[names[place] for place in assignment.devices],
        value_ms=to_ms_or_none(value),
        lower_bound_ms=None if candidate.bound is None else to_ms(candidate.bound.value_ns),
        cost_ms=None if value is None or own is None else to_ms(value - own),
    )


def _rule(opening: Opening, number: int, known: list[tuple[Assignment, Candidate]], best: Candidate) -> RuleCutRow:
    cut = opening.rules[number]
    alike = () if cut.assignment is None else (cut.assignment, *opening.uniform(cut.assignment))
    tried = [one for assignment, one in known if assignment in alike]
    candidate = min(tried, key=lambda one: math.inf if one.value_ns is None else one.value_ns, default=None)
    value = None if candidate is None else candidate.value_ns
    reason = cut.reason
    if candidate is not None and candidate.infeasible:
        messages = [obstacle.message for obstacle in candidate.obstacles]
        reason = messages[0] if messages else "no schedule exists"
    return RuleCutRow(
        rule=cut.rule,
        layers_per_stage=None if cut.assignment is None else list(cut.assignment.counts),
        value_ms=to_ms_or_none(value),
        gain=gain_over_value(best.value_ns, value),
        reason=reason,
    )
