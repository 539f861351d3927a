"""More than 200 schedules, each built to break one named rule, are refused for that rule."""

from __future__ import annotations

import pytest
from tests.golden.cases import witness_ids
from tests.golden.mutations import RECIPES, accepted, broken, shuffled

from crosspipe.checker.check import check


def test_there_are_more_than_two_hundred_from_many_cases() -> None:
    assert sum(recipe.count for recipe in RECIPES.values()) >= 200
    assert sorted(shuffled()) == sorted(witness_ids())


@pytest.mark.parametrize("case_id", witness_ids())
def test_what_is_mutated_was_right(case_id: str) -> None:
    good = accepted(case_id)
    assert check(good.problem, good.rows).ok


@pytest.mark.parametrize("name", list(RECIPES))
def test_a_mutation_is_refused_for_its_rule(name: str) -> None:
    recipe = RECIPES[name]
    found = [(case_id, one, check(one.problem, one.rows)) for case_id, one in broken(recipe)]
    assert len(found) == recipe.count
    for case_id, _, report in found:
        kinds = {violation.kind for violation in report.violations}
        assert recipe.kind in kinds, case_id
        assert kinds == {recipe.kind} or not recipe.alone, case_id
