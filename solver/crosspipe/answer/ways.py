"""The problems of a spec: one for each placement, stages per device and microbatch that it leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.assignment.opening import opening_of
from crosspipe.costs.expand import prepare
from crosspipe.costs.variants import variants_of
from crosspipe.errors import SpecError
from crosspipe.problem.compile import compile_spec

if TYPE_CHECKING:
    from crosspipe.assignment.opening import Opening
    from crosspipe.costs.expansion import Expansion
    from crosspipe.costs.preparation import Preparation
    from crosspipe.problem.problem import Problem
    from crosspipe.spec.model import Spec


@dataclass(frozen=True, slots=True)
class Ways:
    """What a spec compiles to.

    Attributes
    ----------
    preparation
        The first way: of its kind are the degrees of all others.
    expansions, problems
        One of each for every problem.
    compared
        Whether ways that are `auto` are compared with each other, each with its even cut.
    """

    preparation: Preparation
    expansions: tuple[Expansion, ...]
    problems: tuple[Problem, ...]
    compared: bool

    def opening(self, digest: str) -> Opening | None:
        """Find what is open of the assignment; None if nothing is, or other ways are compared."""
        return None if self.compared else opening_of(self.preparation, digest)


def ways_of(spec: Spec, digest: str) -> Ways:
    """Compile a spec with even cuts for every choice that it leaves `auto`; a choice that cannot be is left out.

    Raises
    ------
    SpecError
        If no choice can be: for the first of them.
    """
    first, *others = variants_of(spec)
    preparation = prepare(first)
    expansions: list[Expansion] = []
    problems: list[Problem] = []
    degrees = preparation.degrees
    fixed = {"tensor": degrees.tensor, "pipeline": degrees.pipeline, "data": degrees.data}
    for number, variant in enumerate((first, *others)):
        try:
            expansion = preparation.expand() if number == 0 else _prepared(variant, fixed).expand()
            found = compile_spec(expansion.spec, digest)
        except SpecError:
            if number == 0:
                raise
            continue
        problems += found
        expansions += [expansion] * len(found)
    return Ways(preparation, tuple(expansions), tuple(problems), bool(others))


def _prepared(spec: Spec, degrees: dict[str, int]) -> Preparation:
    return prepare(spec.model_copy(update={"parallel": spec.parallel.model_copy(update=degrees)}))
