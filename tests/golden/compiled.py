"""Golden cases compiled to problems by the library's own path: parse, expand, compile."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tests.golden.cases import case_named
from tests.golden.mapping import case_to_spec

from crosspipe.costs.expand import expand
from crosspipe.problem.compile import compile_spec
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.problem.problem import Problem


def compile_all(spec: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Compile a spec written as a mapping, one problem per candidate placement."""
    parsed = parse_spec(spec)
    return compile_spec(expand(parsed).spec, spec_digest(parsed))


@cache
def problem_of(case_id: str) -> Problem:
    """Compile a schedule case, whose placement is given."""
    (problem,) = compile_all(case_to_spec(case_named(case_id)))
    return problem
