"""YAML text as a tree, by the core schema of YAML 1.2 without its costly and surprising parts.

Anchors and aliases (a few lines of which can stand for terabytes), tags, several documents and keys that are not plain
text are refused. `no`, `on` and `12:30` are text, as they look; numbers are read exactly; keys are always text.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import yaml

from crosspipe.errors import SpecSyntaxError
from crosspipe.spec.faults import Path, fault
from crosspipe.spec.numbers import number_from_text
from crosspipe.spec.tree import DEEPEST, Pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: Final = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader

_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), Decimal("NaN")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), Decimal("Infinity")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), Decimal("-Infinity")),
}


class RefusedYamlError(SpecSyntaxError):
    """Well-formed YAML of a kind that a spec may not use."""


def read_yaml(text: str) -> object:
    """Read one YAML document; an empty one is None.

    Raises
    ------
    SpecSyntaxError
        If the text is not YAML, or uses what is refused (then a `RefusedYamlError`).
    """
    try:
        return _Reader(yaml.parse(text, Loader=_LOADER)).document()
    except yaml.YAMLError as error:
        raise SpecSyntaxError([fault((), f"must be YAML or JSON: {_what(error, text)}")]) from error


def _what(error: yaml.YAMLError, text: str) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        line = "".join(text.splitlines()[mark.line : mark.line + 1])
        tab = "\t" in line[: len(line) - len(line.lstrip())]
        problem = "a tab cannot indent, only spaces can" if tab else error.problem
        return f"{problem}, line {mark.line + 1} column {mark.column + 1}"
    if isinstance(error, yaml.reader.ReaderError):
        return f"{error.reason}, position {error.position}"
    return "cannot be read"


class _Reader:
    """Builds the tree from parse events, each checked before anything is built from it."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events

    def document(self) -> object:
        """Read the one document of the stream."""
        found: object = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _refused((), "must be one document", event)
                found = self._node(next(self._events), ())
        return found

    def _node(self, event: yaml.Event, path: Path) -> object:
        if len(path) > DEEPEST:
            raise _refused(path, f"must be nested at most {DEEPEST} levels deep", event)
        if isinstance(event, yaml.AliasEvent):
            raise _refused(path, "aliases (`*name`) are refused: write the value out", event)
        if not isinstance(event, yaml.NodeEvent) or event.anchor is not None:
            raise _refused(path, "anchors (`&name`) are refused: write the value out where it is used", event)
        if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.tag is not None:
            raise _refused(path, "tags (`!name`) are refused", event)
        if isinstance(event, yaml.ScalarEvent):
            return _value(event)
        return self._mapping(path) if isinstance(event, yaml.MappingStartEvent) else self._sequence(path)

    def _sequence(self, path: Path) -> list[object]:
        found: list[object] = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            found.append(self._node(event, (*path, len(found))))
        return found

    def _mapping(self, path: Path) -> Pairs:
        found = Pairs()
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if isinstance(event, yaml.CollectionStartEvent):
                raise _refused(path, "keys must be text", event)
            self._node(event, path)
            key = event.value if isinstance(event, yaml.ScalarEvent) else ""
            found.append((key, self._node(next(self._events), (*path, key))))
        return found


def _value(event: yaml.ScalarEvent) -> object:
    text = str(event.value)
    if event.style:  # quoted or a block; the two parsers write a plain one as None or as ""
        return text
    if text in _WORDS:
        return _WORDS[text]
    return number_from_text(text) if _NUMBER.fullmatch(text) else text


def _refused(path: Path, rule: str, event: yaml.Event) -> RefusedYamlError:
    mark = event.start_mark
    where = "" if mark is None else f" (line {mark.line + 1} column {mark.column + 1})"
    return RefusedYamlError([fault(path, rule + where)])
