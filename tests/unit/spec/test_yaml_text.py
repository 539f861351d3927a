"""YAML as a spec reads it: the core schema of 1.2, keys as text, nothing that surprises."""

from __future__ import annotations

from decimal import Decimal

import pytest
import yaml

from crosspipe.errors import SpecSyntaxError
from crosspipe.spec import yaml_text
from crosspipe.spec.numbers import UnreadableNumber
from crosspipe.spec.yaml_text import RefusedYamlError, read_yaml


@pytest.fixture(params=["fast parser", "plain parser"])
def _both_parsers(request, monkeypatch):
    if request.param == "plain parser":
        monkeypatch.setattr(yaml_text, "_LOADER", yaml.SafeLoader)


@pytest.mark.usefixtures("_both_parsers")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("+12", 12),
        ("-0.5", Decimal("-0.5")),
        (".5", Decimal("0.5")),
        ("1e3", Decimal("1e3")),
        ("1.5E-3", Decimal("0.0015")),
        ("18.522", Decimal("18.522")),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("2024-01-01", "2024-01-01"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("|\n 12", "12"),
        ("<<", "<<"),
    ],
)
def test_scalars(text, value):
    (pair,) = read_yaml(f"key: {text}")
    assert pair == ("key", value)
    assert type(pair[1]) is type(value)


@pytest.mark.usefixtures("_both_parsers")
def test_keys_are_text_as_written():
    found = read_yaml("{0: a, no: b, 1.0: c, ~: d, 'x y': e}")
    assert [key for key, _ in found] == ["0", "no", "1.0", "~", "x y"]


@pytest.mark.usefixtures("_both_parsers")
def test_numbers_that_are_none():
    for text in (".nan", ".inf", "-.INF"):
        assert not read_yaml(f"[{text}]")[0].is_finite()
    assert isinstance(read_yaml("[1e99999999999999999999]")[0], UnreadableNumber)


@pytest.mark.usefixtures("_both_parsers")
@pytest.mark.parametrize(
    ("text", "pointer", "rule"),
    [
        ("a: &x 1", "/a", "anchors"),
        ("a: &x [1]", "/a", "anchors"),
        ("a: [1, *x]", "/a/1", "aliases"),
        ("*x : 1", "", "aliases"),
        ("a: !!str 1", "/a", "tags"),
        ("a: !!python/object/apply:os.system [ls]", "/a", "tags"),
        ("! a: 1", "", "tags"),
        ("a: !mine {b: 1}", "/a", "tags"),
        ("? [a, b]\n: 1", "", "keys must be text"),
        ("a: 1\n---\nb: 1", "", "one document"),
        ("[" * 40 + "]" * 40, "/0" * 33, "nested at most 32"),
    ],
)
def test_refused(text, pointer, rule):
    with pytest.raises(RefusedYamlError, match=rule) as caught:
        read_yaml(text)
    assert caught.value.faults[0].pointer == pointer


@pytest.mark.usefixtures("_both_parsers")
@pytest.mark.parametrize("text", ["a: [1", "a: b: c", "\tx", "'", "a: @b", "a: \x07"])
def test_no_yaml_at_all(text):
    with pytest.raises(SpecSyntaxError, match="must be YAML or JSON"):
        read_yaml(text)


@pytest.mark.usefixtures("_both_parsers")
def test_a_tab_is_called_one():
    for text in ("a:\n\tb: 1", "a:\n  b: 1\n \tc: 2"):
        with pytest.raises(SpecSyntaxError, match="a tab cannot indent, only spaces can, line"):
            read_yaml(text)
    with pytest.raises(SpecSyntaxError, match=r"must be YAML or JSON: (?!a tab)"):
        read_yaml("a: [1,\t")
