"""The plain tree of a document: mappings with text keys, lists, text, numbers, true, false and null; nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from crosspipe.spec.faults import Path, fault, shown
from crosspipe.spec.numbers import MOST_DIGITS, UnreadableNumber, is_ordinary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosspipe.errors import Fault

DEEPEST = 32
"""Most levels of nesting; a spec has 7, a Hugging Face config a few more."""


class Pairs(list[tuple[object, object]]):
    """A mapping as it was read, repeated keys and all."""


def plain_tree(value: object) -> tuple[object, list[Fault]]:
    """Copy a document into plain values, and list what does not belong into one.

    What is at fault stays in the copy as far as a plain value can stand for it, so that the checks after this one can
    go on and find more.

    Returns
    -------
    tuple
        The copy and the faults: repeated keys, keys that are not text, numbers that are not finite, values of types
        that JSON does not have, nesting beyond 32 levels.
    """
    faults: list[Fault] = []
    return _plain(value, (), faults), faults


def _plain(value: object, path: Path, faults: list[Fault]) -> object:
    if len(path) > DEEPEST:
        faults.append(fault(path, f"must be nested at most {DEEPEST} levels deep"))
        return None
    if isinstance(value, Pairs):
        return _mapping(value, path, faults)
    if isinstance(value, Mapping):
        return _mapping(value.items(), path, faults)
    if isinstance(value, list | tuple):
        return [_plain(item, (*path, number), faults) for number, item in enumerate(value)]
    if isinstance(value, UnreadableNumber):
        faults.append(_no_number(path, str(value)))
        return None
    if isinstance(value, str):
        return str(value) if _is_unicode(value, path, faults) else None
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float | Decimal):
        if not is_ordinary(value):
            faults.append(_no_number(path, value))
        return value
    faults.append(fault(path, "must be a mapping, a list, text, a number, true, false or null", value))
    return None


def _mapping(items: Iterable[tuple[object, object]], path: Path, faults: list[Fault]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in items:
        if not isinstance(key, str):
            faults.append(fault((*path, shown(key)), "keys must be text", key))
            continue
        if _is_unicode(key, (*path, key), faults):
            if key in found:
                faults.append(fault((*path, key), "must be given once", value))
            found[str(key)] = _plain(value, (*path, key), faults)
    return found


def _is_unicode(text: str, path: Path, faults: list[Fault]) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        faults.append(fault(path, "text must be valid Unicode, without lone surrogates", text))
        return False
    return True


def _no_number(path: Path, value: object) -> Fault:
    return fault(path, f"must be a finite number of at most {MOST_DIGITS} digits", value)
