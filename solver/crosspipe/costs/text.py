"""The expanded spec as YAML for people: every field written, every assumption a comment above the field it filled."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import yaml

from crosspipe.spec.faults import pointer as pointer_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.costs.assumption import Assumption
    from crosspipe.costs.expand import Expansion

COMMENT_WIDTH = 110
"""Longest comment line."""

Comments = dict[str, list[str]]


def expanded_text(expansion: Expansion) -> str:
    """Write an expansion as YAML that reads back as an equal spec.

    Each assumption is a comment above its field: the value, why, and how to have it otherwise; an assumption about a
    field that is not written stands above the nearest one around it. Notices come first.
    """
    tree = expansion.spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    written = set(_pointers(tree, ""))
    comments: Comments = {}
    for assumption in expansion.assumptions:
        pointer = assumption.pointer
        while pointer and pointer not in written:
            pointer = pointer.rpartition("/")[0]
        comments.setdefault(pointer, []).append(_comment(assumption, pointer))
    for notice in expansion.notices:
        comments.setdefault("", []).append(f"notice {notice.code} at {notice.pointer}: {notice.message}")
    lines = [*_comment_lines(comments, "", ""), *_mapping_lines(tree, "", "", comments)]
    return "\n".join(lines) + "\n"


def _comment(assumption: Assumption, written_at: str) -> str:
    name = "" if assumption.pointer == written_at else f"{assumption.pointer.rpartition('/')[2]} = "
    return f"{name}{assumption.value}: {assumption.why}. To change: {assumption.override}"


def _pointers(node: object, pointer: str) -> Iterator[str]:
    """List the pointers that get lines of their own, so that a comment can stand above them."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield pointer + pointer_to((key,))
            yield from _pointers(value, pointer + pointer_to((key,)))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            if isinstance(value, dict):
                yield f"{pointer}/{number}"


def _mapping_lines(node: dict[str, Any], pointer: str, indent: str, comments: Comments) -> Iterator[str]:
    for key, value in node.items():
        here = pointer + pointer_to((key,))
        yield from _comment_lines(comments, here, indent)
        if isinstance(value, dict) and value:
            yield f"{indent}{_flow(key)}:"
            yield from _mapping_lines(value, here, indent + "  ", comments)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            yield f"{indent}{_flow(key)}:"
            for number, item in enumerate(value):
                yield from _comment_lines(comments, f"{here}/{number}", indent + "  ")
                yield f"{indent}  - {_flow(item)}"
        else:
            yield f"{indent}{_flow(key)}: {_flow(value)}"


def _comment_lines(comments: Comments, pointer: str, indent: str) -> Iterator[str]:
    prefix = f"{indent}# "
    for comment in comments.get(pointer, ()):
        # names may hold characters that end a YAML comment or that YAML refuses
        printable = "".join(letter if letter.isprintable() else " " for letter in comment)
        yield from textwrap.wrap(
            printable,
            COMMENT_WIDTH,
            initial_indent=prefix,
            subsequent_indent=f"{prefix}  ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def _flow(value: object) -> str:
    """Write a value on one line."""
    text: str = yaml.safe_dump([value], default_flow_style=True, sort_keys=False, allow_unicode=True, width=2**31)
    return text.strip()[1:-1]
