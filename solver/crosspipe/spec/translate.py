"""pydantic's errors as faults: the user's own path, the rule in words, the value, the nearest legal one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from crosspipe.spec.branches import TAGS
from crosspipe.spec.faults import ABSENT, Path, closest, fault
from crosspipe.spec.shape import field_names, model_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from crosspipe.errors import Fault

_KEY_MARK = "[key]"

_RULES = {
    "string_type": "must be text",
    "string_unicode": "must be valid Unicode text",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must not contain control characters",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "bool_type": "must be true or false",
}

_MODEL_RULE = (
    "must be a catalogue name, or a mapping with `stages`, `layers` or the fields of a Hugging Face config.json"
)


def faults_of(error: ValidationError, tree: object) -> Iterator[Fault]:
    """Translate the errors of a validation of `tree`, as far as they are asked for."""
    return (_fault(details, tree) for details in error.errors(include_url=False))


def _fault(details: ErrorDetails, tree: object) -> Fault:
    path = _user_path(details["loc"], tree)
    kind, context = details["type"], details.get("ctx", {})
    value = value_at(tree, path)
    if kind == "rule":
        return fault(path, context["rule"], value, context["nearest"])
    if kind == "missing":
        return _missing(path, tree)
    if kind == "extra_forbidden":
        return _unknown(path, tree, value)
    if kind == "literal_error":
        legal = re.findall(r"'([^']*)'", str(context["expected"]))
        near = closest(value, legal) if isinstance(value, str) else None
        return fault(path, f"must be {' or '.join(legal)}", value, near)
    if kind == "tuple_type" or (kind == "too_long" and context["field_type"] == "Tuple"):
        return fault(path, _tuple_rule(path), value)
    if kind == "too_short":
        return fault(path, "must not be empty", value)
    if kind == "string_too_long":
        return fault(path, f"must have at most {context['max_length']} characters", value)
    if kind == "union_tag_not_found":
        return fault(path, _MODEL_RULE, value)
    rule = _RULES.get(kind, details["msg"])
    quoted = f"'{value}'" if kind == "string_type" and isinstance(value, int) else None
    return fault(path, rule, value, quoted)


def _missing(path: Path, tree: object) -> Fault:
    if isinstance(path[-1], int):
        return fault(path[:-1], _tuple_rule(path[:-1]), value_at(tree, path[:-1]))
    return fault(path, "must be given")


def _unknown(path: Path, tree: object, value: object) -> Fault:
    parent = value_at(tree, path[:-1])
    model = model_at(path[:-1], parent)
    legal = [] if model is None else field_names(model)
    if path[:-1] == ("model",) and path[-1] in ("stages", "layers"):
        return fault(path, "the model must be given in one form alone", value)
    return fault(path, f"unknown field; known here: {', '.join(legal)}", value, closest(str(path[-1]), legal))


def _tuple_rule(path: Path) -> str:
    field = next((part for part in reversed(path) if isinstance(part, str)), "")
    return {
        "between": "must be a list of two places",
        "regions": "must be a list of two cloud regions",
        "transfer_table": "must be a list of two numbers: size in MB, time in ms",
        "slow_ms": "must be a list of three numbers: start and end in ms (null = for ever), rate in Gb/s",
    }.get(field, "must be a list of two numbers: start and end in ms (null = for ever)")


def value_at(tree: object, path: Path) -> object:
    """Look up the value at a path; `ABSENT` where there is none."""
    for part in path:
        if isinstance(tree, Mapping):
            tree = tree.get(part, ABSENT)
        elif isinstance(tree, list) and isinstance(part, int) and part < len(tree):
            tree = tree[part]
        else:
            return ABSENT
    return tree


def _user_path(location: tuple[int | str, ...], tree: object) -> Path:
    """Leave out what pydantic adds to a path: the tags of branches, the mark of a key."""
    path: Path = ()
    for part in location:
        here = value_at(tree, path)
        inside = isinstance(here, Mapping) and part in here
        if not inside and (part in TAGS or part == _KEY_MARK):
            continue
        path = (*path, part)
    return path
