"""What a field may hold, in words, from its annotation."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from annotated_types import MinLen
from docs.generate.markdown import code
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from crosspipe.spec.numbers import Number, Whole, plain_text

PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "null", Any: "any value"}
PLURAL = {"whole number": "whole numbers", "number": "numbers", "text": "texts", "any value": "any values"}


class Kind(NamedTuple):
    """What a field may hold, its unit, and the bounds of its numbers (upper ones only where they are below 2)."""

    text: str
    unit: str = ""
    bounds: str = ""


def kind_of(annotation: Any, metadata: tuple[Any, ...] = ()) -> Kind:
    """Put an annotation into words; `metadata` is what stood beside it in `Annotated`."""
    for item in metadata:
        if isinstance(item, Number):
            return Kind("number", item.unit, _bounds(item))
        if isinstance(item, Whole):
            return Kind("whole number", "", f"≥ {item.at_least}")
        if isinstance(item, FieldInfo) and item.description:
            return Kind(f"({item.description})")
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return kind_of(parts[0], (*parts[1:], *metadata))
    if origin in (Union, types.UnionType):
        return _either([kind_of(part) for part in parts])
    if origin is Literal:
        return Kind(" or ".join(code(str(part)) for part in parts))
    if origin is list:
        return _listed(kind_of(parts[0]), not_empty=any(_is_not_empty(item) for item in metadata))
    if origin is tuple:
        return Kind("[" + ", ".join(kind_of(part).text for part in parts) + "]")
    if origin is dict:
        key, value = kind_of(parts[0]), kind_of(parts[1])
        return Kind(f"mapping of {_plural(key.text)} to {_plural(value.text)}", value.unit, value.bounds)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Kind(f"[{annotation.__name__}](#{annotation.__name__.lower()})")
    return Kind(PLAIN[annotation])


def _listed(entry: Kind, *, not_empty: bool) -> Kind:
    return Kind(f"{'one or more' if not_empty else 'list of'} {_plural(entry.text)}", entry.unit, entry.bounds)


def _is_not_empty(item: Any) -> bool:
    inner = item.metadata if isinstance(item, FieldInfo) else [item]
    return any(isinstance(one, MinLen) for one in inner)


def _either(kinds: list[Kind]) -> Kind:
    """Join alternatives; that a field may be null is told by its default."""
    shown = [kind for kind in kinds if kind.text != "null"]
    if len(shown) == 1:
        return shown[0]
    return Kind(
        " or ".join(dict.fromkeys(kind.text for kind in shown)),
        next((kind.unit for kind in shown if kind.unit), ""),
        next((kind.bounds for kind in shown if kind.bounds), ""),
    )


def _bounds(number: Number) -> str:
    """Write the lower bound, and an upper one that says something of the quantity rather than of the program."""
    low = "" if number.at_least is None else f"≥ {plain_text(number.at_least)}"
    low = low if number.above is None else f"> {plain_text(number.above)}"
    return low if number.below is None else f"{low}, < {plain_text(number.below)}"


def _plural(text: str) -> str:
    return PLURAL.get(text, text)
