"""All faults of a spec or a document at once: its fields, its parts, and what the parts say of each other."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from crosspipe.errors import SpecError
from crosspipe.spec.faults import first_faults
from crosspipe.spec.model import Spec
from crosspipe.spec.rules.registry import PART_RULES, WHOLE_RULES
from crosspipe.spec.shape import parts, sound_parts
from crosspipe.spec.translate import faults_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.base import SpecModel
    from crosspipe.spec.faults import Path

_STAND_INS: Final[dict[str, Any]] = {
    "model": "stand-in",
    "training": {"microbatches": 1},
    "sites": {"stand-in": {"devices": 1}},
}
"""Sound values for the sections that a spec must have; no rule that reads such a section is asked."""


def spec_faults(spec: Spec) -> tuple[Fault, ...]:
    """List the rules between fields that a spec breaks; empty for a valid one.

    A `Spec` made in Python has sound fields, but only this function sees whether they fit together.
    """
    return tuple(first_faults(chain(_part_faults(parts(spec)), _whole_faults(spec, ()))))


def require_valid(spec: Spec) -> None:
    """Refuse a spec that breaks a rule between its fields.

    Raises
    ------
    SpecError
        With all faults.
    """
    faults = spec_faults(spec)
    if faults:
        raise SpecError(faults)


def validated(tree: dict[str, object]) -> tuple[Spec | None, tuple[Fault, ...]]:
    """Validate a document: the spec if its fields are sound, and all faults found.

    Where fields are at fault, the rules between fields are still asked of all parts and sections that are sound.
    """
    try:
        spec = Spec.model_validate(tree, by_alias=True, by_name=False)
    except ValidationError as error:
        faults = faults_of(error, tree)
        broken = {str(details["loc"][0]) for details in error.errors(include_url=False, include_context=False)}
        rest = {name: value for name, value in tree.items() if name in Spec.model_fields and name not in broken}
        sound = Spec.model_validate({**_STAND_INS, **rest}, by_alias=True, by_name=False)
        missing = broken | (_STAND_INS.keys() - rest.keys())
        more = chain(_part_faults(sound_parts(tree)), _whole_faults(sound, missing))
        return None, tuple(first_faults(chain(faults, more)))
    return spec, spec_faults(spec)


def _part_faults(found: Iterable[tuple[Path, SpecModel]]) -> Iterator[Fault]:
    for path, part in found:
        for kind, rules in PART_RULES:
            if isinstance(part, kind):
                for rule in rules:
                    yield from rule(part, path)


def _whole_faults(spec: Spec, broken: Collection[str]) -> Iterator[Fault]:
    for rule in WHOLE_RULES:
        if rule.reads.isdisjoint(broken):
            yield from rule.find(spec)
