"""An operation waits for what it needs and for its arrival."""

from __future__ import annotations

from tests.unit.model.draft import Draft, accepts

from crosspipe.model.arcs import add_arcs
from crosspipe.model.precedence import precedence_arcs
from crosspipe.problem.operations import Kind


def _one_hop() -> Draft:
    draft = Draft([(0,), (1,)])
    before, after = draft.op(Kind.F, 0, 0, 3, 0), draft.op(Kind.F, 1, 0, 3, 1)
    draft.after(before, after, 4)
    return draft


def test_a_start_before_the_arrival_is_cut() -> None:
    assert not accepts(_one_hop(), lambda model, v, ticks: add_arcs(model, v, precedence_arcs(ticks)), [0, 6])


def test_a_start_at_the_arrival_is_kept() -> None:
    assert accepts(_one_hop(), lambda model, v, ticks: add_arcs(model, v, precedence_arcs(ticks)), [0, 7])
