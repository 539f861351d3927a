"""What the framework says of a query parameter, in the words of our errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosspipe.errors import Fault
from crosspipe.spec.faults import closest, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

BOUNDS: dict[str, tuple[str, str | None]] = {
    "greater_than_equal": ("must be at least {ge}", "ge"),
    "less_than_equal": ("must be at most {le}", "le"),
    "less_than": ("must be below {lt}", None),
    "greater_than": ("must be above {gt}", None),
}
RULES = {
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of at most 4300 digits",
    "bool_parsing": "must be true or false",
}


def parameter_faults(errors: Sequence[Mapping[str, Any]], known: Collection[str]) -> list[Fault]:
    """Translate the errors of pydantic; `known` are the names of all parameters of the endpoint."""
    return [_fault(error, known) for error in errors]


def _fault(error: Mapping[str, Any], known: Collection[str]) -> Fault:
    name = str(error["loc"][-1])
    kind: str = error["type"]
    pointer, value, message = f"/{name}", shown(error["input"]), str(error["msg"])
    context = {key: _plain(item) for key, item in error.get("ctx", {}).items()}
    if kind == "extra_forbidden":
        return Fault(pointer, f"must be one of {', '.join(known)}", name, closest(name, known))
    if kind == "literal_error":
        words = [word.strip("' ") for word in str(context["expected"]).replace(" or ", ",").split(",")]
        return Fault(pointer, f"must be {context['expected']}", value, closest(str(error["input"]), words))
    if kind in BOUNDS:
        rule, nearest = BOUNDS[kind]
        return Fault(pointer, rule.format(**context), value, str(context[nearest]) if nearest else None)
    return Fault(pointer, RULES.get(kind, message[:1].lower() + message[1:]), value)


def _plain(value: object) -> object:
    """Write a whole number without a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
