"""Order chains: when they count, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.model.draft import Draft, accepts

from crosspipe.model.arcs import add_arcs
from crosspipe.model.chains import chain_arcs, in_order
from crosspipe.problem.operations import NO_RESOURCE, Kind

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from crosspipe.model.ticks import Ticks
    from crosspipe.model.variables import Variables


def _two_forwards(multipliers: tuple[str, str] = ("1", "1"), *, fixed: bool = False, resource: int = 0) -> Draft:
    draft = Draft([(0,)], multipliers=multipliers, fixed=fixed)
    draft.chains = [[draft.op(Kind.F, 0, j, 3, resource) for j in range(2)]]
    draft.op(Kind.EXTRA, -1, 0, 1)
    return draft


def _add_chains(model: CpModel, variables: Variables, ticks: Ticks) -> None:
    add_arcs(model, variables, chain_arcs(ticks))


def test_identical_microbatches_out_of_order_are_cut() -> None:
    assert not accepts(_two_forwards(), _add_chains, [3, 0, 0])


def test_identical_microbatches_in_order_are_kept() -> None:
    assert accepts(_two_forwards(), _add_chains, [0, 3, 0])


def test_unlike_microbatches_may_run_in_any_order() -> None:
    assert accepts(_two_forwards(("1", "2")), _add_chains, [3, 0, 0])


def test_a_required_order_binds_unlike_microbatches() -> None:
    assert not accepts(_two_forwards(("1", "2"), fixed=True), _add_chains, [3, 0, 0])


def test_where_nothing_is_occupied_only_starts_keep_the_order() -> None:
    assert accepts(_two_forwards(resource=NO_RESOURCE), _add_chains, [0, 1, 0])
    assert not accepts(_two_forwards(resource=NO_RESOURCE), _add_chains, [1, 0, 0])


def test_a_deadline_that_favours_a_later_microbatch_lifts_the_order() -> None:
    draft = _two_forwards()
    draft.due = {0: 6, 1: 3}
    assert not in_order(draft.problem())
    draft.due = {0: 3, 1: 6}
    assert in_order(draft.problem())
