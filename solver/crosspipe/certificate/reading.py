"""Reading an untrusted certificate: exactly the fields expected, each of its type and in range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crosspipe.certificate.verdict import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGEST = 2**61
"""Numbers below this may be added in pairs within 64 bits."""

Part = Mapping[str, Any]


def part_with(value: object, names: Iterable[str], what: str) -> Part:
    """Read an object that has these fields and no others."""
    if not isinstance(value, Mapping):
        raise RefusedError(f"{what} must be an object")
    wanted = set(names)
    if missing := sorted(wanted - value.keys()):
        raise RefusedError(f"{what} lacks {missing[0]}")
    if surplus := sorted(str(name)[:40] for name in value.keys() - wanted):
        raise RefusedError(f"{what} must not have {surplus[0]}")
    return value


def integer(part: Part, name: str) -> int:
    """Read a whole number from 0 up."""
    return whole(part[name], name)


def whole(value: object, name: str) -> int:
    """Take a value for a whole number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < LARGEST:
        raise RefusedError(f"{name} must be a whole number from 0 to 2^61")
    return value


def text(part: Part, name: str) -> str:
    """Read a text."""
    value = part[name]
    if not isinstance(value, str):
        raise RefusedError(f"{name} must be a text")
    return value


def rows(part: Part, name: str, most: int) -> list[Any]:
    """Read a list of at most `most` entries."""
    value = part[name]
    if not isinstance(value, list | tuple) or len(value) > most:
        raise RefusedError(f"{name} must be a list of at most {most} entries")
    return list(value)


def equal(part: Part, name: str, derived: int) -> int:
    """Read a number that must be exactly what was derived."""
    if integer(part, name) != derived:
        raise RefusedError(f"{name} is {part[name]}, but {derived} was derived")
    return derived


def at_most(part: Part, name: str, derived: int) -> int:
    """Read a number that may not exceed what was derived."""
    value = integer(part, name)
    if value > derived:
        raise RefusedError(f"{name} is {value}, but only {derived} could be derived")
    return value


def at_least(part: Part, name: str, derived: int) -> int:
    """Read a number that may not fall short of what was derived."""
    value = integer(part, name)
    if value < derived:
        raise RefusedError(f"{name} is {value}, but {derived} was derived")
    return value
