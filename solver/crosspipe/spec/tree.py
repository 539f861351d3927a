"""The plain tree of a document: mappings with text keys, lists, text, numbers, true, false and null; nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from crosspipe.spec.faults import ABSENT, LONGEST_VALUE, MOST_FAULTS, Path, fault, shown
from crosspipe.spec.numbers import ORDINARY_RULE, UnreadableNumber, is_ordinary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosspipe.errors import Fault

DEEPEST = 32
"""Most levels of nesting; a spec has 7, a Hugging Face config a few more."""


LONGEST_KEY = 400
"""Most characters of a key; twice those of a name."""


class Pairs(list[tuple[object, object]]):
    """A mapping as it was read, repeated keys and all."""


def plain_tree(value: object) -> tuple[object, list[Fault]]:
    """Copy a document into plain values, and list what does not belong into one.

    What is at fault stays in the copy as far as a plain value can stand for it, so that the checks after this one can
    go on and find more.

    Returns
    -------
    tuple
        The copy and the faults (no more than are ever listed): repeated keys, keys that are not text, numbers that are
        not finite, values of types that JSON does not have, nesting beyond 32 levels.
    """
    copier = _Copier()
    return copier.plain(value, ()), copier.faults


class _Copier:
    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def plain(self, value: object, path: Path) -> object:
        if len(path) > DEEPEST:
            self._refuse(path, f"must be nested at most {DEEPEST} levels deep")
            return None
        if isinstance(value, Pairs):
            return self._mapping(value, path)
        if isinstance(value, Mapping):
            return self._mapping(value.items(), path)
        if isinstance(value, list | tuple):
            return [self.plain(item, (*path, number)) for number, item in enumerate(value)]
        if isinstance(value, UnreadableNumber):
            self._refuse(path, ORDINARY_RULE, str(value))
            return None
        if isinstance(value, str):
            return str(value) if self._is_unicode(value, path) else None
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float | Decimal):
            if not is_ordinary(value):
                self._refuse(path, ORDINARY_RULE, value)
            return value
        self._refuse(path, "must be a mapping, a list, text, a number, true, false or null", value)
        return None

    def _mapping(self, items: Iterable[tuple[object, object]], path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in items:
            if not isinstance(key, str):
                self._refuse((*path, shown(key)), "keys must be text", key)
            elif len(key) > LONGEST_KEY:
                self._refuse((*path, f"{key[:LONGEST_VALUE]}..."), f"keys must have at most {LONGEST_KEY} characters")
            elif self._is_unicode(key, (*path, key)):
                if key in found:
                    self._refuse((*path, key), "must be given once", value)
                found[str(key)] = self.plain(value, (*path, key))
        return found

    def _is_unicode(self, text: str, path: Path) -> bool:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            self._refuse(path, "text must be valid Unicode, without lone surrogates", text)
            return False
        return True

    def _refuse(self, path: Path, rule: str, value: object = ABSENT) -> None:
        if len(self.faults) <= MOST_FAULTS:
            self.faults.append(fault(path, rule, value))
