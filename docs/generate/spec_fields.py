"""The fields of a spec and the rules between them, from its models and its rules."""

from __future__ import annotations

from decimal import Decimal
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from docs.generate.kinds import kind_of
from docs.generate.markdown import bullets, code, sentence, table

from crosspipe.spec.cluster import Link, Pool, Site
from crosspipe.spec.gradients import Gradients
from crosspipe.spec.model import ExtraOperation, Limits, Parallel, Placement, Spec, Training, Utilisation
from crosspipe.spec.numbers import plain_text
from crosspipe.spec.rules.registry import PART_RULES, WHOLE_RULES
from crosspipe.spec.stages import (
    HuggingFaceModel,
    Layer,
    LayersModel,
    Microbatches,
    RecomputeOption,
    Stage,
    StagesModel,
    UniformStages,
    Work,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.spec.base import SpecModel

PLACES: tuple[tuple[type[SpecModel], str], ...] = (
    (Spec, "the whole document"),
    (StagesModel, "`model`"),
    (Work, "part of every stage and layer"),
    (UniformStages, "`model.stages`, with `count`"),
    (Stage, "`model.stages[]`"),
    (RecomputeOption, "`recompute_option` of a stage"),
    (LayersModel, "`model`"),
    (Layer, "`model.layers[]`"),
    (HuggingFaceModel, "`model`"),
    (Training, "`training`"),
    (Microbatches, "`training.microbatches`"),
    (Utilisation, "`training.utilisation`"),
    (Parallel, "`parallel`"),
    (Site, "`sites.NAME`"),
    (Pool, "part of every site, or `sites.NAME.pools[]`"),
    (Link, "`links[]`"),
    (Placement, "`placement`"),
    (Gradients, "`gradients`"),
    (ExtraOperation, "`extra_operations[]`"),
    (Limits, "`limits`"),
)
"""Every model, and where it stands."""

ROOMS = {"channels": "links"}
"""Sections of rules whose module is called otherwise."""


def fields() -> str:
    """Write one section per model."""
    return "\n\n".join(_section(model, place) for model, place in PLACES)


def rules_between_sections() -> str:
    """Write the rules that read several sections of a spec."""
    groups: dict[str, list[str]] = {}
    for rule in WHOLE_RULES:
        name = rule.find.__module__.rpartition(".")[2]
        groups.setdefault(ROOMS.get(name, name), []).append(_rule(rule.find))
    return "\n\n".join(f"**{name}**\n\n{bullets(rules)}" for name, rules in groups.items())


def _section(model: type[SpecModel], place: str) -> str:
    parent = model.__bases__[0]
    own = {name: field for name, field in model.model_fields.items() if name not in _inherited(model)}
    parts = [f"### {model.__name__}", f"Stands at: {place}.", cleandoc(model.__doc__ or "")]
    if _inherited(model):
        parts.append(f"Has the fields of [{parent.__name__}](#{parent.__name__.lower()}), and:")
    parts.append(table(("field", "holds", "unit", "allowed", "default", "meaning"), map(_row, own.items())))
    if found := [_rule(rule) for of, rules in PART_RULES if of is model for rule in rules]:
        parts += ["Rules:", bullets(found)]
    return "\n\n".join(parts)


def _rule(rule: Callable[..., object]) -> str:
    """Write a rule: its name, and what it asks."""
    return f"*{rule.__name__.replace('_', ' ')}*: {sentence(rule.__doc__)}"


def _inherited(model: type[SpecModel]) -> set[str]:
    parent = model.__bases__[0]
    return set(getattr(parent, "model_fields", {}))


def _row(item: tuple[str, Any]) -> tuple[str, ...]:
    name, field = item
    kind = kind_of(field.annotation, tuple(field.metadata))
    return code(field.alias or name), kind.text, kind.unit, kind.bounds, _default(field), field.description or ""


def _default(field: Any) -> str:
    """Write a default; a field without one is required."""
    if field.is_required():
        return "**required**"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return plain_text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return "none"
    return code(str(value)) if isinstance(value, str) else str(value) if isinstance(value, int) else "its defaults"
