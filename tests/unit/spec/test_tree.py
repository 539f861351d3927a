"""The plain tree: what belongs into a document, and where what does not is told."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crosspipe.spec.json_text import read_json
from crosspipe.spec.tree import DEEPEST, Pairs, plain_tree


def pointers(value):
    return [fault.pointer for fault in plain_tree(value)[1]]


def test_a_plain_tree_is_copied():
    value = {"a": [1, 2.5, Decimal("0.1"), "x", True, None, ("y",)]}
    assert plain_tree(value) == ({"a": [1, 2.5, Decimal("0.1"), "x", True, None, ["y"]]}, [])


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"a": {1: 2}}, "/a/1"),
        ({"a": [float("nan")]}, "/a/0"),
        ({"a": float("inf")}, "/a"),
        ({"a": Decimal("1e500")}, "/a"),
        ({"a": 10**500}, "/a"),
        ({"a": Decimal("1." + "1" * 80)}, "/a"),
        ({"a": b"bytes"}, "/a"),
        ({"a": {"b", "c"}}, "/a"),
        ({"a": object()}, "/a"),
        ({"a": "\ud800"}, "/a"),
        ({"\ud800": 1}, "/\\ud800"),
        ({"a" * 1000: 1}, "/" + "a" * 80 + "..."),
        ({"a/b": {"c~d": object()}}, "/a~1b/c~0d"),
        (Pairs([("a", 1), ("a", 2)]), "/a"),
    ],
)
def test_what_does_not_belong(value, pointer):
    assert pointers(value) == [pointer]


def test_repeated_keys_are_found_at_any_depth():
    assert pointers(read_json('{"a": [{"b": 1, "b": 1}], "c": 1, "c": {"d": 1, "d": 2}}')) == ["/a/0/b", "/c", "/c/d"]


def test_a_circle_ends():
    circle: dict[str, object] = {}
    circle["a"] = circle
    assert pointers(circle) == ["/a" * (DEEPEST + 1)]
